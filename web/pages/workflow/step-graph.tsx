import "@xyflow/react/dist/base.css";
import { Background, Controls, type Node, Position, ReactFlow } from "@xyflow/react";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { EmptyState } from "../../components/empty-state.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { graphOf, type Layout, NODE_HEIGHT, NODE_WIDTH } from "./graph-layout.ts";
import type { OutlineStep } from "./outline-steps.ts";
import classes from "./step-graph.module.css";

interface Props {
  readonly steps: readonly OutlineStep[];
  readonly isFlow: boolean;
  /** The step of the cursor. */
  readonly current: OutlineStep | undefined;
  /** What a dry run said about a step, or the state that it has in a run, by name. */
  readonly states: ReadonlyMap<string, string>;
  readonly onSelect: (step: OutlineStep) => void;
}

/** The steps and what they wait for as a graph. A node leads to its line, and the step of the cursor is marked. */
export function StepGraph({ steps, isFlow, current, states, onSelect }: Props): ReactNode {
  const { t } = useTranslation();
  const key = JSON.stringify(graphOf(steps, isFlow));
  const places = useLayout(key);
  const top = useMemo(() => steps.filter(({ depth }) => depth === 0), [steps]);
  const { edges } = useMemo(() => graphOf(steps, isFlow), [steps, isFlow]);
  if (top.length === 0) return <EmptyState text={t("workflow.no_steps")} />;
  if (places === undefined) return <div className={classes.graph} />;
  const marked = current === undefined ? undefined : topStepOf(top, current);
  const nodes = top.flatMap((step): Node[] => {
    const position = places[step.name];
    if (position === undefined) return [];
    const state = states.get(step.name);
    return [
      {
        id: step.name,
        position,
        data: { label: <Label step={step} /> },
        width: NODE_WIDTH,
        height: NODE_HEIGHT,
        sourcePosition: Position.Bottom,
        targetPosition: Position.Top,
        className: [
          classes.node,
          step === marked ? classes.current : "",
          state === undefined ? "" : classes[`state_${state}`],
        ].join(" "),
        ariaLabel: `${step.name}, ${step.type}`,
      },
    ];
  });
  return (
    <section className={classes.graph} aria-label={t("workflow.graph")}>
      <ReactFlow
        key={key}
        nodes={nodes}
        edges={edges.map(({ from, to }) => ({
          id: `${from} ${to}`,
          source: from,
          target: to,
          focusable: false,
        }))}
        nodesDraggable={false}
        nodesConnectable={false}
        elementsSelectable
        fitView
        fitViewOptions={{ maxZoom: 1 }}
        minZoom={0.1}
        onNodeClick={(_event, { id }) => {
          const step = top.find(({ name }) => name === id);
          if (step !== undefined) onSelect(step);
        }}
      >
        <Background />
        <Controls showInteractive={false} />
      </ReactFlow>
      <p className={classes.hint}>{t("workflow.graph_hint")}</p>
    </section>
  );
}

function Label({ step: { name, type } }: { readonly step: OutlineStep }): ReactNode {
  return (
    <span className={classes.label} dir="auto">
      <strong>{name}</strong>
      <span>{type}</span>
    </span>
  );
}

/** The step of the first level whose lines contain another one. */
const topStepOf = (top: readonly OutlineStep[], { from }: OutlineStep): OutlineStep | undefined =>
  top.find((step) => step.from <= from && from <= step.to);

/** The places of the nodes of a graph, which a worker computes; undefined until it has. */
function useLayout(graph: string): Layout | undefined {
  const [layout, setLayout] = useState<Layout>();
  useEffect(() => {
    const worker = new Worker(new URL("./graph-worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }: MessageEvent<Layout>) => setLayout(data);
    worker.postMessage(JSON.parse(graph));
    return () => worker.terminate();
  }, [graph]);
  return layout;
}
