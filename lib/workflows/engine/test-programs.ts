import type { ForeachStep, ParallelSteps, Step } from "../schema/types.ts";
import { decide, type Input, waiting } from "./decide.ts";
import { type FinishedStatus, type HistoryEntry, NEW_RUN, type RunState } from "./history.ts";
import { everyStep, type Program, type ProgramModule } from "./program.ts";
import type { StepRequestEntry } from "./walk.ts";

const COMMON = { exports: {}, on_success: [], on_error: [] } as const;

export const bash = (name: string): Step => ({ ...COMMON, type: "bash", name, command: "true" });
export const parallel = (name: string, parallel_steps: readonly Step[]): ParallelSteps => ({
  ...COMMON,
  type: "parallel-steps",
  name,
  parallel_steps,
});
export const foreach = (name: string, step: Step): ForeachStep => ({
  ...COMMON,
  type: "foreach",
  name,
  input: "items",
  variable: "item",
  step,
  parallel: 1,
});

/** Builds a program of modules `m0`, `m1`, …, each with its steps; the modules run one after another. */
export function programOf(...modules: readonly (readonly Step[])[]): Program {
  return graphOf(...modules.map((steps, index) => ({ steps, after: index === 0 ? [] : [index - 1] })));
}

/** The same for modules with their own dependencies, gates and handlers. */
export function graphOf(
  ...modules: readonly (Pick<ProgramModule, "steps"> & Partial<ProgramModule>)[]
): Program {
  return {
    modules: modules.map((module, index) => ({
      name: `m${index}`,
      workflow: `m${index}`,
      revision: 1,
      after: [],
      byName: new Map(everyStep(module.steps).map((step) => [step.name, step])),
      ...module,
    })),
  };
}

/** The outcome of a step by its request and the gotos before it: always the same for the same key and phase. */
export interface Outcome {
  readonly status: FinishedStatus;
  readonly tolerated?: boolean;
  readonly total?: number;
  readonly parallel?: number;
  readonly failed_items?: number;
  readonly goto?: string;
  readonly retry_at?: number;
}
export type Scenario = (request: StepRequestEntry, jumps: number) => Outcome;

export type Result = Extract<Input, { type: "result" }>;

/** Returns the result that an executor reports for a request. */
export function resultOf(request: StepRequestEntry, world: Scenario, jumps = 0): Result {
  const outcome = world(request, jumps);
  return {
    type: "result",
    key: request.key,
    dispatch: request.dispatch,
    ...outcome,
    ...(outcome.status === "failed" ? { error: `${request.key} broke` } : {}),
  };
}

export interface FinishedRun {
  readonly state: RunState;
  readonly entries: readonly HistoryEntry[];
  readonly peakBytes: number;
}

/** Runs a program one input at a time, without lost or duplicate messages. */
export function runInOrder(program: Program, world: Scenario): FinishedRun {
  const entries: HistoryEntry[] = [];
  const inputs: Input[] = [{ type: "start" }];
  let state = NEW_RUN;
  let peakBytes = 0;
  for (let input = inputs.shift(); input !== undefined; input = inputs.shift()) {
    const decision = decide(program, state, input);
    state = decision.state;
    entries.push(...decision.entries);
    inputs.push(...decision.requests.map((request) => resultOf(request, world, decision.state.jumps)));
    if (inputs.length === 0) inputs.push(...waiting(state).map((one) => one.input));
    peakBytes = Math.max(peakBytes, JSON.stringify(state).length);
  }
  return { state, entries, peakBytes };
}

/** Returns what was recorded of every step, without error texts: which failure comes first is random. */
export function recorded(entries: readonly HistoryEntry[]): string[] {
  return entries
    .flatMap((entry) => (entry.type === "step.finished" ? [entry] : []))
    .map(({ key, status, tolerated = false, total }) => JSON.stringify({ key, status, tolerated, total }))
    .sort();
}
