import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo } from "react";
import { useLocation } from "wouter";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import type { Run } from "../../api/runs.ts";
import { ErrorState } from "../../components/error-state.tsx";
import { useQueryParameters } from "../../components/query-parameters.ts";
import { outlineOf } from "../workflow/outline.ts";
import { StepGraph } from "../workflow/step-graph.tsx";
import type { TimelineStep } from "./timeline-data.ts";

interface Props {
  readonly run: Run;
  readonly steps: readonly TimelineStep[];
  /** Key of the step whose panel is open. */
  readonly current: string | undefined;
}

/** The revision that a run executes as a graph, with the states of its steps; of a flow, those of its modules. */
export function RunGraph({ run, steps, current }: Props): ReactNode {
  const [, navigate] = useLocation();
  const [, hrefWith] = useQueryParameters();
  const { workflow_name: name, workflow_revision: revision } = run;
  const isFlow = run.workflow_kind === "flow";
  const workflow = useQuery({
    queryKey: ["workflow", name, "revision", revision],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/automation/workflows/{name}", { params: { path: { name }, query: { revision } }, signal }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const yaml = workflow.data?.data.yaml;
  const outline = useMemo(() => outlineOf(yaml ?? ""), [yaml]);
  const states = useMemo(() => statesOf(steps, isFlow), [steps, isFlow]);
  if (workflow.isError) return <ErrorState error={workflow.error} onRetry={() => void workflow.refetch()} />;
  if (yaml === undefined) return null;
  const open = steps.find(({ key }) => key === current);
  const shown = isFlow ? open?.module : open?.step_name;
  return (
    <StepGraph
      steps={outline.steps}
      isFlow={isFlow}
      current={outline.steps.find((step) => step.name === shown)}
      states={states}
      onSelect={(step) => {
        const found = steps.find((one) => (isFlow ? one.module : one.key) === step.name);
        if (found !== undefined) navigate(hrefWith({ step: found.key, panel: undefined, tab: undefined }));
      }}
    />
  );
}

/** The state of a module is that of its steps that matters most. */
const ORDER = ["failed", "running", "waiting", "cancelled", "completed", "skipped"] as const;

function statesOf(steps: readonly TimelineStep[], isFlow: boolean): Map<string, string> {
  const states = new Map<string, TimelineStep["status"]>();
  for (const { step_name, module, status } of steps) {
    const name = isFlow ? module : step_name;
    const before = states.get(name);
    if (before === undefined || ORDER.indexOf(status) < ORDER.indexOf(before)) states.set(name, status);
  }
  return states;
}
