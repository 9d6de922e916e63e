/** A step of a workflow, or a module of a flow, as it is in the text. */
export interface OutlineStep {
  readonly name: string;
  /** Type of a step; empty for a module. */
  readonly type: string;
  /** Number of containers around it. */
  readonly depth: number;
  readonly dependsOn: readonly string[];
  /** Lines of the text, from 1. */
  readonly from: number;
  readonly to: number;
}

export interface Outline {
  /** Empty if the text does not have it. */
  readonly name: string;
  /** In the order of the run, as far as the text decides it: what others depend on is before them. */
  readonly steps: readonly OutlineStep[];
}

/** The innermost step whose lines contain this one. */
export const stepAt = ({ steps }: Outline, line: number): OutlineStep | undefined =>
  steps.filter(({ from, to }) => from <= line && line <= to).toSorted((a, b) => b.depth - a.depth)[0];
