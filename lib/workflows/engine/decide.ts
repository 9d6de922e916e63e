import { moreChildren, widthOf } from "./containers.ts";
import type { FinishedStatus, HistoryEntry, RunState } from "./history.ts";
import { isTerminal } from "./history.ts";
import { advance, afterStep, handled, passGate } from "./modules.ts";
import type { Program } from "./program.ts";
import { isRedeliverable, lostDeliveries } from "./retry-policy.ts";
import { errorOf, type Request, requestOf, stepAt, Walk } from "./walk.ts";

/** What a run is told. */
export type Input =
  | { readonly type: "start" }
  | {
      readonly type: "result";
      readonly key: string;
      readonly dispatch: number;
      readonly status: FinishedStatus;
      readonly error?: string;
      /** Failed, and the author said to go on. */
      readonly tolerated?: boolean;
      /** A container that was entered: how many children it has, and how many may run at once. */
      readonly total?: number;
      readonly parallel?: number;
      /** A container that was entered: when it must have ended, milliseconds since the epoch. */
      readonly deadline?: number;
      /** A batch of a foreach: how many of its items failed. */
      readonly failed_items?: number;
      /** The step that is to follow, or `_end`. */
      readonly goto?: string;
      /** Failed, and is to be tried again then, milliseconds since the epoch. */
      readonly retry_at?: number;
    }
  /** The time has come to try a step again. */
  | { readonly type: "retry"; readonly key: string; readonly dispatch: number }
  /** Whoever took the step is gone: it is asked for once more, as this attempt. */
  | {
      readonly type: "lost";
      readonly key: string;
      readonly dispatch: number;
      readonly attempt: number;
      /** Of the deliveries of its request: those that ended with the whole server. They count as no attempt. */
      readonly interrupted?: number;
    }
  | { readonly type: "cancel"; readonly reason: string }
  | { readonly type: "fail"; readonly error: string };

type Told<Type extends Input["type"]> = Extract<Input, { type: Type }>;

export interface Decision {
  readonly state: RunState;
  readonly entries: readonly HistoryEntry[];
  /** Steps to be dispatched: those newly due, or after a repeated input all that are under way. */
  readonly requests: readonly Request[];
}

/** How often the steps of a run may name the one that is to follow. */
export const JUMPS_MAX = 1_000;

/**
 * What a run does next. A pure function: the same program, state and input always give the same decision,
 * and nothing is read or written. A repeated, late or unknown input changes nothing, and asks for the steps
 * under way once more, since the message that asked for them may have been lost.
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

/** The requests of all steps that an executor has or should have. */
export function underWay(program: Program, state: RunState): Request[] {
  return Object.entries(state.frames).flatMap(([key, frame]) => {
    if (frame.phase === "children" || frame.phase === "waiting") return [];
    const step = stepAt(program, frame);
    return step === undefined ? [] : [requestOf(key, step, frame, frame.phase, frame.dispatch)];
  });
}

/** Steps that wait to be tried again, and when, milliseconds since the epoch. */
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
    // The executor of a container that failed has run its handlers; what happened to the children decides.
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
    const error = `goto: the steps of the run named the one that is to follow more than ${JUMPS_MAX} times`;
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

/** The request's new number makes what the lost one may still answer nobody's. */
function lost(walk: Walk, { key, dispatch, attempt, ...more }: Told<"lost">): void {
  const frame = walk.state.frames[key];
  if (frame === undefined || frame.dispatch !== dispatch) return;
  if (frame.phase === "children" || frame.phase === "waiting") return;
  const interrupted = (frame.interrupted ?? 0) + (more.interrupted ?? 0);
  if (isRedeliverable(attempt, interrupted)) {
    walk.askAgain(key, frame, frame.phase, { attempt, ...(interrupted === 0 ? {} : { interrupted }) });
    return;
  }
  const error = `given up: its executor was lost ${lostDeliveries(attempt, interrupted)} times`;
  result(walk, { type: "result", key, dispatch, status: "failed", error });
}
