import type { OutlineStep } from "./outline-steps.ts";

/** Size of a node, pixels. */
export const NODE_WIDTH = 168;
export const NODE_HEIGHT = 44;

export interface Edge {
  readonly from: string;
  readonly to: string;
}

/** What the layout is computed from: names and what they wait for. */
export interface Graph {
  readonly nodes: readonly string[];
  readonly edges: readonly Edge[];
}

/** Places by name, pixels. */
export type Layout = Readonly<Record<string, { readonly x: number; readonly y: number }>>;

/**
 * The steps of the first level and what each waits for: what it declares; without any declaration, the steps of a module
 * run one after the other, and the modules of a flow at once.
 */
export function graphOf(steps: readonly OutlineStep[], isFlow: boolean): Graph {
  const nodes = [...new Set(steps.filter(({ depth }) => depth === 0).map(({ name }) => name))];
  const known = new Set(nodes);
  const declared = steps.flatMap(({ name, depth, dependsOn }) =>
    depth === 0 ? dependsOn.filter((from) => known.has(from)).map((from) => ({ from, to: name })) : [],
  );
  if (declared.length > 0 || isFlow) return { nodes, edges: declared };
  return { nodes, edges: nodes.slice(1).map((to, index) => ({ from: nodes[index] ?? "", to })) };
}
