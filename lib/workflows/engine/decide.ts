import { moreChildren, widthOf } from "./containers.ts";
import type { FinishedStatus, HistoryEntry, RunState } from "./history.ts";
import { isTerminal } from "./history.ts";
import { advance, afterStep, handled, passGate } from "./modules.ts";
import type { Program } from "./program.ts";
import { isRedeliverable, lostDeliveries } from "./retry-policy.ts";
import { errorOf, requestOf, type StepRequestEntry, stepAt, Walk } from "./walk.ts";

/** An input of a run. */
export type Input =
  | { readonly type: "start" }
  | {
      readonly type: "result";
      readonly key: string;
      readonly dispatch: number;
      readonly status: FinishedStatus;
      readonly error?: string;
      /** Failed, and the author chose to continue. */
      readonly tolerated?: boolean;
      /** For an entered container: the number of its children, and how many may run concurrently. */
      readonly total?: number;
      readonly parallel?: number;
      /** For an entered container: its deadline, milliseconds since the epoch. */
      readonly deadline?: number;
      /** For a batch of a foreach: the number of failed items. */
      readonly failed_items?: number;
      /** Their positions, as `formatPositions` writes them. */
      readonly failed_at?: string;
      /** The next step, or `_end`. */
      readonly goto?: string;
      /** Failed; to be retried at this time, milliseconds since the epoch. */
      readonly retry_at?: number;
    }
  /** The timer of a waiting step: it is retried. */
  | { readonly type: "retry"; readonly key: string; readonly dispatch: number }
  /** The executor of the step was lost: the step is requested again, as this attempt. */
  | {
      readonly type: "lost";
      readonly key: string;
      readonly dispatch: number;
      readonly attempt: number;
      /** Deliveries that ended because the whole server stopped; they do not count as attempts. */
      readonly interrupted?: number;
    }
  | { readonly type: "cancel"; readonly reason: string }
  | { readonly type: "fail"; readonly error: string };

type Told<Type extends Input["type"]> = Extract<Input, { type: Type }>;

export interface Decision {
  readonly state: RunState;
  readonly entries: readonly HistoryEntry[];
  /** Steps to dispatch: those newly due, or all running ones after a repeated input. */
  readonly requests: readonly StepRequestEntry[];
}

/** Maximum number of gotos in one run. */
export const JUMPS_MAX = 1_000;

/**
 * Decides what a run does next. A pure function: the same program, state and input always give the same decision. A
 * repeated, late or unknown input changes nothing and requests the running steps again, since their messages may have
 * been lost.
 */
export function decide(program: Program, state: RunState, input: Input): Decision {
  if (isTerminal(state.status)) return { state, entries: [], requests: [] };
  const walk = new Walk(program, state);
  tell(walk, input);
  if (walk.entries.length === 0) return { state, entries: [], requests: underWay(program, state) };
  return { state: walk.state, entries: walk.entries, requests: walk.requests() };
}

function tell(walk: Walk, input: Input): void {
  if (input.type === "cancel") walk.add({ type: "run.cancelled", reason: input.reason });
  else if (input.type === "fail") walk.endRun("failed", input.error);
  else if (input.type === "start") start(walk);
  else if (input.type === "lost") lost(walk, input);
  else if (input.type === "retry") retry(walk, input);
  else result(walk, input);
}

function start(walk: Walk): void {
  if (walk.state.status !== "pending") return;
  walk.add({ type: "run.started" });
  advance(walk);
}

/** Returns the requests of all steps that an executor has or should have. */
export function underWay(program: Program, state: RunState): StepRequestEntry[] {
  return Object.entries(state.frames).flatMap(([key, frame]) => {
    if (frame.phase === "children" || frame.phase === "waiting") return [];
    const step = stepAt(program, frame);
    return step === undefined ? [] : [requestOf(key, step, frame, frame.phase, frame.dispatch)];
  });
}

/** Returns the steps that wait for a retry, with its time, milliseconds since the epoch. */
export function waiting(state: RunState): { input: Told<"retry">; at: number }[] {
  return Object.entries(state.frames).flatMap(([key, { phase, dispatch, retry_at }]) =>
    phase === "waiting" && retry_at !== undefined
      ? [{ input: { type: "retry", key, dispatch }, at: retry_at }]
      : [],
  );
}

function result(walk: Walk, input: Told<"result">): void {
  const frame = walk.state.frames[input.key];
  if (frame === undefined || frame.dispatch !== input.dispatch) return;
  if (frame.phase === "children" || frame.phase === "waiting") return;
  const { type: _type, dispatch: _dispatch, retry_at, goto, ...outcome } = input;
  if (frame.phase === "run" && outcome.status === "failed" && retry_at !== undefined) {
    walk.add({ type: "step.waits", key: input.key, error: outcome.error ?? "failed", retry_at });
  } else if (frame.phase === "gate") {
    walk.add({ type: "step.finished", ...outcome });
    passGate(walk, frame.module, outcome);
  } else if (frame.phase === "handlers") {
    walk.add({ type: "step.finished", ...outcome });
    handled(walk, frame.module, outcome.tolerated === true);
  } else if (frame.phase === "leave" && frame.children !== undefined && frame.children.failed > 0) {
    // The executor has run the handlers of the failed container; its children determine the outcome.
    finish(walk, { ...outcome, status: "failed", ...errorOf(frame) });
  } else if (frame.phase === "enter" && outcome.status === "completed") {
    finish(walk, { ...outcome, parallel: widthOf(walk, frame, outcome.parallel ?? 1) });
  } else finish(walk, outcome, goto);
}

type Outcome = Omit<Extract<HistoryEntry, { type: "step.finished" }>, "type" | "goto">;

function finish(walk: Walk, outcome: Outcome, goto?: string): void {
  const frame = walk.state.frames[outcome.key];
  if (frame === undefined) return;
  const target = goto === undefined || frame.parent !== null ? undefined : walk.target(frame.module, goto);
  if (target !== undefined && walk.state.jumps >= JUMPS_MAX) {
    const error = `goto: the steps of the run jumped more than ${JUMPS_MAX} times`;
    walk.add({ type: "step.finished", ...outcome, status: "failed", error });
  } else walk.add({ type: "step.finished", ...outcome, ...(target === undefined ? {} : { goto: target }) });
  const now = walk.state.frames[outcome.key];
  if (now?.phase === "children") moreChildren(walk, outcome.key);
  else if (frame.parent !== null) moreChildren(walk, frame.parent);
  else afterStep(walk, frame.module);
}

function retry(walk: Walk, { key, dispatch }: Told<"retry">): void {
  const frame = walk.state.frames[key];
  if (frame?.phase !== "waiting" || frame.dispatch !== dispatch) return;
  walk.askAgain(key, frame, "run", { tries: (frame.tries ?? 1) + 1 });
}

/** The new dispatch number makes a late result of the lost executor invalid. */
function lost(walk: Walk, { key, dispatch, attempt, ...more }: Told<"lost">): void {
  const frame = walk.state.frames[key];
  if (frame === undefined || frame.dispatch !== dispatch) return;
  if (frame.phase === "children" || frame.phase === "waiting") return;
  const interrupted = (frame.interrupted ?? 0) + (more.interrupted ?? 0);
  if (isRedeliverable(attempt, interrupted)) {
    walk.askAgain(key, frame, frame.phase, { attempt, ...(interrupted === 0 ? {} : { interrupted }) });
    return;
  }
  const error = `not retried: its executor was lost ${lostDeliveries(attempt, interrupted)} times`;
  result(walk, { type: "result", key, dispatch, status: "failed", error });
}
