import type { StepType } from "../definition/types.ts";

/**
 * What happened to a run, entry by entry: append-only, and the truth. The state is nothing but these
 * entries folded (`evolve`), so a recorded history can be replayed.
 */
export type HistoryEntry =
  | { readonly type: "run.started" }
  | { readonly type: "module.started"; readonly module: number; readonly name: string }
  | {
      readonly type: "step.requested";
      readonly key: string;
      readonly step: string;
      readonly step_type: StepType;
      readonly module: number;
      readonly phase: Phase;
      readonly parent: string | null;
      /** Counts the requests of a run: the fencing token of the result. */
      readonly dispatch: number;
      /** Of a step that is asked for once more. */
      readonly attempt?: number;
      /** Items of a foreach that the executor takes in one go: from, and the first that is not meant. */
      readonly items?: readonly [from: number, to: number];
    }
  | {
      readonly type: "step.finished";
      readonly key: string;
      readonly status: FinishedStatus;
      readonly error?: string;
      /** A failure that the author told to pass over. */
      readonly tolerated?: boolean;
      readonly total?: number;
      readonly parallel?: number;
      readonly deadline?: number;
      readonly failed_items?: number;
    }
  | { readonly type: "run.finished"; readonly status: "completed" | "failed"; readonly error?: string }
  | { readonly type: "run.cancelled"; readonly reason: string };

export type FinishedStatus = "completed" | "failed" | "skipped";

/** `run`: a step that holds no others. `enter` and `leave`: before and after the steps that a container holds. */
export type Phase = "run" | "enter" | "leave";

export type RunStatus = "pending" | "running" | "completed" | "failed" | "cancelled";

export const TERMINAL_STATUSES: readonly RunStatus[] = ["completed", "failed", "cancelled"];
export const isTerminal = (status: RunStatus): boolean => TERMINAL_STATUSES.includes(status);

/** A step under way. Keys: the step's name (in a flow after its module's and `/`), `#` and its item's position. */
export interface Frame {
  readonly step: string;
  readonly parent: string | null;
  readonly phase: Phase | "children";
  readonly dispatch: number;
  readonly attempt?: number;
  readonly items?: readonly [number, number];
  readonly children?: ChildrenState;
}

/** Progress of the steps that a container holds. */
export interface ChildrenState {
  readonly total: number;
  /** First item or child that was not started yet. */
  readonly next: number;
  readonly running: number;
  readonly failed: number;
  readonly parallel: number;
  /** When the container must have ended, milliseconds since the epoch. */
  readonly deadline?: number;
  readonly error?: string;
}

export interface RunState {
  readonly status: RunStatus;
  readonly module: number;
  /** Top-level step of the module that is under way. */
  readonly cursor: number;
  readonly frames: Readonly<Record<string, Frame>>;
  /** Top-level steps that are done, over all modules; the one that failed the run is not. */
  readonly done: number;
  readonly dispatches: number;
  readonly entries: number;
  readonly error?: string;
}

export const NEW_RUN: RunState = {
  status: "pending",
  module: 0,
  cursor: 0,
  frames: {},
  done: 0,
  dispatches: 0,
  entries: 0,
};

/** The state after an entry. Pure. */
export function evolve(state: RunState, entry: HistoryEntry): RunState {
  const next = { ...state, entries: state.entries + 1 };
  switch (entry.type) {
    case "run.started":
      return { ...next, status: "running" };
    case "module.started":
      return { ...next, module: entry.module, cursor: 0 };
    case "step.requested":
      return requested(next, entry);
    case "step.finished":
      return finished(next, entry);
    case "run.finished":
      return {
        ...next,
        status: entry.status,
        frames: {},
        ...(entry.error === undefined ? {} : { error: entry.error }),
      };
    case "run.cancelled":
      return { ...next, status: "cancelled", frames: {}, error: entry.reason };
  }
}

function requested(state: RunState, entry: Extract<HistoryEntry, { type: "step.requested" }>): RunState {
  const frames = { ...state.frames };
  const before = frames[entry.key];
  frames[entry.key] = {
    step: entry.step,
    parent: entry.parent,
    phase: entry.phase,
    dispatch: entry.dispatch,
    ...(entry.attempt === undefined ? {} : { attempt: entry.attempt }),
    ...(entry.items === undefined ? {} : { items: entry.items }),
    ...(entry.phase === "leave" && before?.children !== undefined ? { children: before.children } : {}),
  };
  const again = entry.phase === "leave" || entry.attempt !== undefined;
  const parent = entry.parent === null || again ? undefined : frames[entry.parent];
  if (entry.parent !== null && parent?.children !== undefined) {
    const taken = entry.items === undefined ? 1 : entry.items[1] - entry.items[0];
    frames[entry.parent] = {
      ...parent,
      children: {
        ...parent.children,
        next: parent.children.next + taken,
        running: parent.children.running + 1,
      },
    };
  }
  return { ...state, frames, dispatches: entry.dispatch };
}

function finished(state: RunState, entry: Extract<HistoryEntry, { type: "step.finished" }>): RunState {
  const frame = state.frames[entry.key];
  if (frame === undefined) return state;
  const frames = { ...state.frames };
  if (frame.phase === "enter" && entry.status === "completed") {
    const { attempt: _attempt, ...entered } = frame;
    frames[entry.key] = {
      ...entered,
      phase: "children",
      // No executor has it until it is to be left: what still answers an earlier request is late.
      dispatch: 0,
      children: {
        total: entry.total ?? 0,
        next: 0,
        running: 0,
        failed: 0,
        parallel: Math.max(1, entry.parallel ?? 1),
        ...(entry.deadline === undefined ? {} : { deadline: entry.deadline }),
      },
    };
    return { ...state, frames };
  }
  delete frames[entry.key];
  if (frame.parent === null) {
    const done = entry.status === "failed" && entry.tolerated !== true ? state.done : state.done + 1;
    return { ...state, frames, cursor: state.cursor + 1, done };
  }
  const parent = frames[frame.parent];
  if (parent?.children !== undefined) {
    const failures = entry.failed_items ?? (entry.status === "failed" && entry.tolerated !== true ? 1 : 0);
    const error =
      parent.children.error ?? (failures > 0 ? entry.error?.slice(0, errorRoom(state)) : undefined);
    frames[frame.parent] = {
      ...parent,
      children: {
        ...parent.children,
        running: parent.children.running - 1,
        failed: parent.children.failed + failures,
        ...(error === undefined ? {} : { error }),
      },
    };
  }
  return { ...state, frames };
}

/** Errors that the containers under way keep, all together, about, characters; and each of them at least. */
const ERRORS_LENGTH = 20_000;
const ERROR_LENGTH_MIN = 100;

/** How much of an error a container keeps of its children: many of them share the row of the run. */
function errorRoom(state: RunState): number {
  return Math.max(ERROR_LENGTH_MIN, Math.floor(ERRORS_LENGTH / Object.keys(state.frames).length));
}

/** The state that a whole history makes. */
export function replay(entries: readonly HistoryEntry[]): RunState {
  return entries.reduce(evolve, NEW_RUN);
}
