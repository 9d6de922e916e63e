import type { StepType } from "../schema/types.ts";

/**
 * The history of a run: append-only, and the source of truth. The state is a fold of these entries (`evolve`), so a
 * recorded history can be replayed.
 */
export type HistoryEntry =
  | { readonly type: "run.started" }
  | {
      readonly type: "module.started";
      readonly module: number;
      readonly name: string;
      /** Number of steps, if they declare dependencies on each other. */
      readonly graph?: number;
    }
  | {
      readonly type: "module.finished";
      readonly module: number;
      readonly status: FinishedStatus;
      readonly error?: string;
      /** A failure that the author of the flow chose to ignore. */
      readonly tolerated?: boolean;
    }
  | {
      readonly type: "step.requested";
      readonly key: string;
      readonly step: string;
      readonly step_type: StepType;
      readonly module: number;
      /** Position of a top-level step in its module. */
      readonly position?: number;
      readonly phase: Phase;
      readonly parent: string | null;
      /** Counts the requests of a run: the fencing token of the result. */
      readonly dispatch: number;
      /** Set if the step is requested again because its executor was lost. */
      readonly attempt?: number;
      /** Number of earlier attempts that ended because the whole server stopped; absent if 0. */
      readonly interrupted?: number;
      /** Number of the try of a step with `retry`, from 2. */
      readonly tries?: number;
      /** Number of gotos of the run before this request; absent if 0. Repeated requests of a step keep it. */
      readonly round?: number;
      /** Items of a foreach in this batch; `to` is exclusive. */
      readonly items?: readonly [from: number, to: number];
    }
  | {
      readonly type: "step.finished";
      readonly key: string;
      readonly status: FinishedStatus;
      readonly error?: string;
      /** A failure that the author chose to ignore. */
      readonly tolerated?: boolean;
      readonly total?: number;
      readonly parallel?: number;
      readonly deadline?: number;
      readonly failed_items?: number;
      /** Positions of the failed items, as `formatPositions` writes them; absent in runs of earlier releases. */
      readonly failed_at?: string;
      /** The next step and its position in the module; the position after the last step for `_end`. */
      readonly goto?: { readonly step: string; readonly position: number };
    }
  | {
      /** The step failed and will be retried. */
      readonly type: "step.waits";
      readonly key: string;
      readonly error: string;
      /** Milliseconds since the epoch. */
      readonly retry_at: number;
    }
  | { readonly type: "run.finished"; readonly status: "completed" | "failed"; readonly error?: string }
  | { readonly type: "run.cancelled"; readonly reason: string };

export type FinishedStatus = "completed" | "failed" | "skipped";

/**
 * `run`: a step that is not a container. `enter` and `leave`: before and after the children of a container. `gate` and
 * `handlers`: before and after the steps of a module.
 */
export type Phase = "run" | "enter" | "leave" | "gate" | "handlers";

export type RunStatus = "pending" | "running" | "completed" | "failed" | "cancelled";

export const TERMINAL_STATUSES: readonly RunStatus[] = ["completed", "failed", "cancelled"];
export const isTerminal = (status: RunStatus): boolean => TERMINAL_STATUSES.includes(status);

/** A running step. Its key: the name (in a flow prefixed with the module and `/`), then `#` and the item's position. */
export interface Frame {
  readonly module: number;
  readonly step: string;
  /** Position of a top-level step in its module. */
  readonly position?: number;
  readonly parent: string | null;
  readonly phase: Phase | "children" | "waiting";
  readonly dispatch: number;
  readonly attempt?: number;
  readonly interrupted?: number;
  readonly tries?: number;
  readonly round?: number;
  /** For a step that waits for a retry, its time, milliseconds since the epoch. */
  readonly retry_at?: number;
  readonly items?: readonly [number, number];
  readonly children?: ChildrenState;
}

/** Progress of the children of a container. */
export interface ChildrenState {
  readonly total: number;
  /** The first item or child that has not started. */
  readonly next: number;
  readonly running: number;
  readonly failed: number;
  readonly parallel: number;
  /** Deadline of the container, milliseconds since the epoch. */
  readonly deadline?: number;
  readonly error?: string;
}

/** Progress of a module. */
export interface ModuleState {
  readonly status: "running" | FinishedStatus;
  /** Position of the current step, if steps run one after another. */
  readonly cursor: number;
  /**
   * If steps declare dependencies, one letter each: `-` not started, `r` running, `c`, `f` or `s` by its final status.
   */
  readonly steps?: string;
  readonly error?: string;
  readonly tolerated?: boolean;
}

export interface RunState {
  readonly status: RunStatus;
  /** By position; only modules that were started or skipped. */
  readonly modules: Readonly<Record<string, ModuleState>>;
  /** Number of gotos so far. */
  readonly jumps: number;
  readonly frames: Readonly<Record<string, Frame>>;
  /** Finished top-level steps of all modules, without the one that failed the run. */
  readonly done: number;
  readonly dispatches: number;
  readonly entries: number;
  readonly error?: string;
}

export const NEW_RUN: RunState = {
  status: "pending",
  modules: {},
  jumps: 0,
  frames: {},
  done: 0,
  dispatches: 0,
  entries: 0,
};

/** Returns the state after an entry. Pure. */
export function evolve(state: RunState, entry: HistoryEntry): RunState {
  const next = { ...state, entries: state.entries + 1 };
  switch (entry.type) {
    case "run.started":
      return { ...next, status: "running" };
    case "module.started":
      return withModule(next, entry.module, {
        status: "running",
        cursor: 0,
        ...(entry.graph === undefined ? {} : { steps: "-".repeat(entry.graph) }),
      });
    case "module.finished": {
      const { module, status, error, tolerated } = entry;
      return withModule(next, module, {
        status,
        cursor: next.modules[module]?.cursor ?? 0,
        ...(error === undefined ? {} : { error }),
        ...(tolerated === undefined ? {} : { tolerated }),
      });
    }
    case "step.requested":
      return requested(next, entry);
    case "step.finished":
      return finished(next, entry);
    case "step.waits":
      return waits(next, entry);
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

function withModule(state: RunState, module: number, now: ModuleState): RunState {
  return { ...state, modules: { ...state.modules, [module]: now } };
}

function requested(state: RunState, entry: Extract<HistoryEntry, { type: "step.requested" }>): RunState {
  const frames = { ...state.frames };
  const before = frames[entry.key];
  frames[entry.key] = {
    module: entry.module,
    step: entry.step,
    ...(entry.position === undefined ? {} : { position: entry.position }),
    parent: entry.parent,
    phase: entry.phase,
    dispatch: entry.dispatch,
    ...(entry.attempt === undefined ? {} : { attempt: entry.attempt }),
    ...(entry.interrupted === undefined ? {} : { interrupted: entry.interrupted }),
    ...(entry.tries === undefined ? {} : { tries: entry.tries }),
    ...(entry.round === undefined ? {} : { round: entry.round }),
    ...(entry.items === undefined ? {} : { items: entry.items }),
    ...(entry.phase === "leave" && before?.children !== undefined ? { children: before.children } : {}),
  };
  const parent = entry.parent === null || before !== undefined ? undefined : frames[entry.parent];
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
  const next = { ...state, frames, dispatches: entry.dispatch };
  return entry.position === undefined ? next : placed(next, entry.module, entry.position, "r");
}

/** Sets the letter of a step, if the module records the status of each of its steps. */
function placed(state: RunState, module: number, position: number, letter: string): RunState {
  const now = state.modules[module];
  if (now?.steps === undefined) return state;
  const steps = now.steps.slice(0, position) + letter + now.steps.slice(position + 1);
  return withModule(state, module, { ...now, steps });
}

function waits(state: RunState, entry: Extract<HistoryEntry, { type: "step.waits" }>): RunState {
  const frame = state.frames[entry.key];
  if (frame === undefined) return state;
  const { attempt: _attempt, interrupted: _interrupted, ...rest } = frame;
  const waiting: Frame = { ...rest, phase: "waiting", retry_at: entry.retry_at };
  return { ...state, frames: { ...state.frames, [entry.key]: waiting } };
}

function finished(state: RunState, entry: Extract<HistoryEntry, { type: "step.finished" }>): RunState {
  const frame = state.frames[entry.key];
  if (frame === undefined) return state;
  const frames = { ...state.frames };
  if (frame.phase === "enter" && entry.status === "completed") {
    const { attempt: _attempt, interrupted: _interrupted, ...entered } = frame;
    frames[entry.key] = {
      ...entered,
      phase: "children",
      // Until the container is left, no executor has it: results of earlier requests are late.
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
  if (frame.phase === "handlers") return { ...state, frames };
  if (frame.phase === "gate") return gateFinished({ ...state, frames }, frame, entry);
  if (frame.parent === null) return topFinished({ ...state, frames }, frame, entry);
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

function gateFinished(
  state: RunState,
  { module }: Frame,
  { status, error = "failed" }: Extract<HistoryEntry, { type: "step.finished" }>,
): RunState {
  const now = state.modules[module];
  if (now === undefined || status !== "failed") return state;
  return withModule(state, module, { ...now, error: error.slice(0, errorRoom(state)) });
}

/** Applies the end of a top-level step. */
function topFinished(
  state: RunState,
  frame: Frame,
  entry: Extract<HistoryEntry, { type: "step.finished" }>,
): RunState {
  const failed = entry.status === "failed" && entry.tolerated !== true;
  const letter = failed ? "f" : entry.status === "skipped" ? "s" : "c";
  const counted = placed(
    { ...state, done: failed ? state.done : state.done + 1 },
    frame.module,
    frame.position ?? 0,
    letter,
  );
  const now = counted.modules[frame.module];
  if (now === undefined) return counted;
  const error = failed ? (now.error ?? entry.error ?? `step ${frame.step} failed`) : now.error;
  const cursor =
    now.steps === undefined ? (entry.goto?.position ?? (frame.position ?? now.cursor) + 1) : now.cursor;
  return withModule({ ...counted, jumps: counted.jumps + (entry.goto === undefined ? 0 : 1) }, frame.module, {
    ...now,
    cursor,
    ...(error === undefined ? {} : { error: error.slice(0, errorRoom(state)) }),
  });
}

/** Approximate limit on the errors of all running containers together, and the minimum for each; characters. */
const ERRORS_LENGTH = 20_000;
const ERROR_LENGTH_MIN = 100;

/** Returns how much of a child's error a container keeps: all containers share the row of the run. */
function errorRoom(state: RunState): number {
  return Math.max(
    ERROR_LENGTH_MIN,
    Math.floor(ERRORS_LENGTH / Math.max(1, Object.keys(state.frames).length)),
  );
}

/** Returns the state after a whole history. */
export function replay(entries: readonly HistoryEntry[]): RunState {
  return entries.reduce(evolve, NEW_RUN);
}
