import type { Step } from "../definition/types.ts";
import {
  evolve,
  type FinishedStatus,
  type Frame,
  type HistoryEntry,
  isTerminal,
  type Phase,
  type RunState,
} from "./history.ts";
import type { Program } from "./program.ts";

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
    }
  /** Whoever took the step is gone: it is asked for once more, as this attempt. */
  | { readonly type: "lost"; readonly key: string; readonly dispatch: number; readonly attempt: number }
  | { readonly type: "cancel"; readonly reason: string }
  | { readonly type: "fail"; readonly error: string };

export type Request = Extract<HistoryEntry, { type: "step.requested" }>;

export interface Decision {
  readonly state: RunState;
  readonly entries: readonly HistoryEntry[];
  /** Steps to be dispatched: those newly due, or after a repeated input all that are under way. */
  readonly requests: readonly Request[];
}

/** How often a step is taken before it is given up. */
export const ATTEMPTS_MAX = 10;

/** Items of a foreach that one executor takes in one go. */
export const ITEMS_PER_BATCH = 1_000;

/** Steps of a run that are under way at the same time, about: they are kept in its row. */
const FRAMES_MAX = 500;

/**
 * What a run does next. A pure function: the same program, state and input always give the same decision,
 * and nothing is read or written. A repeated, late or unknown input changes nothing, and asks for the steps
 * under way once more, since the message that asked for them may have been lost.
 */
export function decide(program: Program, state: RunState, input: Input): Decision {
  if (isTerminal(state.status)) return { state, entries: [], requests: [] };
  const walk = new Walk(program, state);
  if (input.type === "cancel") walk.add({ type: "run.cancelled", reason: input.reason });
  else if (input.type === "fail") walk.add({ type: "run.finished", status: "failed", error: input.error });
  else if (input.type === "start") {
    if (state.status === "pending") walk.start();
  } else if (input.type === "lost") walk.lost(input);
  else walk.result(input);
  if (walk.entries.length === 0) return { state, entries: [], requests: underWay(program, state) };
  return { state: walk.state, entries: walk.entries, requests: walk.requests() };
}

/** The requests of all steps that an executor has or should have. */
export function underWay(program: Program, state: RunState): Request[] {
  return Object.entries(state.frames).flatMap(([key, frame]) => {
    const step = program.modules[state.module]?.byName.get(frame.step);
    if (frame.phase === "children" || step === undefined) return [];
    return [request(state.module, key, step, frame.phase, frame, frame.dispatch)];
  });
}

function request(
  module: number,
  key: string,
  step: Step,
  phase: Phase,
  frame: Pick<Frame, "parent" | "items" | "attempt">,
  dispatch: number,
): Request {
  return {
    type: "step.requested",
    key,
    step: step.name,
    step_type: step.type,
    module,
    phase,
    parent: frame.parent,
    dispatch,
    ...(frame.attempt === undefined ? {} : { attempt: frame.attempt }),
    ...(frame.items === undefined ? {} : { items: frame.items }),
  };
}

class Walk {
  readonly program: Program;
  readonly entries: HistoryEntry[] = [];
  state: RunState;

  constructor(program: Program, state: RunState) {
    this.program = program;
    this.state = state;
  }

  add(entry: HistoryEntry): void {
    this.entries.push(entry);
    this.state = evolve(this.state, entry);
  }

  requests(): Request[] {
    return this.entries.filter((entry): entry is Request => {
      return entry.type === "step.requested" && this.state.frames[entry.key]?.dispatch === entry.dispatch;
    });
  }

  start(): void {
    this.add({ type: "run.started" });
    this.enterModule(0);
  }

  result(input: Extract<Input, { type: "result" }>): void {
    const frame = this.state.frames[input.key];
    if (frame === undefined || frame.dispatch !== input.dispatch || frame.phase === "children") return;
    const { type: _type, dispatch: _dispatch, ...outcome } = input;
    if (frame.phase === "leave" && frame.children !== undefined && frame.children.failed > 0) {
      // The executor of a container that failed has run its handlers; what happened to the children decides.
      this.finish({ ...outcome, status: "failed", ...errorOf(frame) }, frame);
      return;
    }
    if (frame.phase === "enter" && outcome.status === "completed") {
      this.finish({ ...outcome, parallel: this.widthOf(frame, outcome.parallel ?? 1) }, frame);
      return;
    }
    this.finish(outcome, frame);
  }

  /** The request's new number makes what the lost one may still answer nobody's. */
  lost({ key, dispatch, attempt }: Extract<Input, { type: "lost" }>): void {
    const frame = this.state.frames[key];
    const step = frame === undefined ? undefined : this.stepOf(frame);
    if (frame === undefined || step === undefined) return;
    if (frame.dispatch !== dispatch || frame.phase === "children") return;
    if (attempt > ATTEMPTS_MAX) {
      const error = `given up: its executor was lost ${ATTEMPTS_MAX} times`;
      this.finish({ key, status: "failed", error }, frame);
      return;
    }
    this.add(
      request(this.state.module, key, step, frame.phase, { ...frame, attempt }, this.state.dispatches + 1),
    );
  }

  /** How many children may run at once: what was asked for, unless containers inside each other would multiply. */
  private widthOf(frame: Frame, asked: number): number {
    const step = this.stepOf(frame);
    if (step?.type === "foreach" && !isContainer(step.step)) return asked;
    let outermost = frame;
    let outerWidth = 1;
    for (let key = frame.parent; key !== null; key = outermost.parent) {
      const outer = this.state.frames[key];
      if (outer === undefined) break;
      outermost = outer;
      outerWidth *= outer.children?.parallel ?? 1;
    }
    const top = this.stepOf(outermost);
    const share = FRAMES_MAX / (top === undefined ? 1 : levelsBelow(top)) / outerWidth;
    return Math.max(1, Math.min(Math.floor(asked), Math.floor(share)));
  }

  private finish(
    outcome: Omit<Extract<HistoryEntry, { type: "step.finished" }>, "type">,
    frame: Frame,
  ): void {
    this.add({ type: "step.finished", ...outcome });
    const now = this.state.frames[outcome.key];
    if (now?.phase === "children") {
      this.moreChildren(outcome.key, now);
      return;
    }
    if (frame.parent === null) {
      if (outcome.status === "failed" && outcome.tolerated !== true) {
        this.endRun("failed", outcome.error ?? `step ${frame.step} failed`);
      } else this.nextStep();
      return;
    }
    const parent = this.state.frames[frame.parent];
    if (parent !== undefined) this.moreChildren(frame.parent, parent);
  }

  private enterModule(index: number): void {
    const module = this.program.modules[index];
    if (module === undefined) {
      this.endRun("completed");
      return;
    }
    this.add({ type: "module.started", module: index, name: module.name });
    this.nextStep();
  }

  private nextStep(): void {
    const step = this.program.modules[this.state.module]?.steps[this.state.cursor];
    if (step === undefined) this.enterModule(this.state.module + 1);
    else this.ask(this.topKey(step), step, null);
  }

  /** Steps of a flow bear the name of their module: two modules may use one name. */
  private topKey(step: Step): string {
    const module = this.program.modules[this.state.module];
    return this.program.modules.length > 1 && module !== undefined
      ? `${module.name}/${step.name}`
      : step.name;
  }

  private ask(key: string, step: Step, parent: string | null, items?: readonly [number, number]): void {
    const phase: Phase = isContainer(step) ? "enter" : "run";
    const frame = { parent, ...(items === undefined ? {} : { items }) };
    this.add(request(this.state.module, key, step, phase, frame, this.state.dispatches + 1));
  }

  /** Starts what a container may still start; leaves it once nothing runs any more. */
  private moreChildren(key: string, container: Frame): void {
    const step = this.stepOf(container);
    if (step === undefined) return;
    for (
      let frame: Frame | undefined = container;
      frame?.children !== undefined;
      frame = this.state.frames[key]
    ) {
      const { total, next, running, parallel } = frame.children;
      if (next >= total) break;
      if (step.type === "foreach" && !isContainer(step.step)) {
        // An executor works through a batch by itself, so many at a time as the author said.
        if (running > 0) break;
        const to = Math.min(total, next + ITEMS_PER_BATCH);
        this.ask(childKey(key, step.step.name, next), step.step, key, [next, to]);
      } else {
        if (running >= parallel) break;
        const child =
          step.type === "foreach"
            ? step.step
            : step.type === "parallel-steps"
              ? step.parallel_steps[next]
              : undefined;
        if (child === undefined) break;
        this.ask(childKey(key, child.name, step.type === "foreach" ? next : undefined), child, key);
      }
    }
    const frame = this.state.frames[key];
    if (frame?.children === undefined) return;
    if (frame.children.running === 0 && frame.children.next >= frame.children.total)
      this.leave(key, step, frame);
  }

  private leave(key: string, step: Step, frame: Frame): void {
    if (needsLeave(step)) {
      this.add(
        request(this.state.module, key, step, "leave", { parent: frame.parent }, this.state.dispatches + 1),
      );
      return;
    }
    const failed = (frame.children?.failed ?? 0) > 0;
    this.finish({ key, status: failed ? "failed" : "completed", ...(failed ? errorOf(frame) : {}) }, frame);
  }

  private stepOf(frame: Frame): Step | undefined {
    return this.program.modules[this.state.module]?.byName.get(frame.step);
  }

  private endRun(status: "completed" | "failed", error?: string): void {
    this.add({ type: "run.finished", status, ...(error === undefined ? {} : { error }) });
  }
}

export function isContainer(step: Step): boolean {
  return step.type === "parallel-steps" || step.type === "foreach";
}

/** Levels of steps that a step holds inside each other. */
function levelsBelow(step: Step): number {
  if (step.type === "foreach") return 1 + levelsBelow(step.step);
  if (step.type === "parallel-steps") return 1 + Math.max(0, ...step.parallel_steps.map(levelsBelow));
  return 0;
}

/** Whether an executor has anything to do once a container's children are done. */
function needsLeave(step: Step): boolean {
  return isContainer(step);
}

/** `scan` inside item 3 of a foreach is `scan#3`, an item inside that `scan#3.7`; in a flow `module/scan#3`. */
export function childKey(parent: string, name: string, item: number | undefined): string {
  const [base = "", position] = parent.split("#");
  const positions = [position, item].filter((part) => part !== undefined);
  const own = `${base.slice(0, base.lastIndexOf("/") + 1)}${name}`;
  return positions.length === 0 ? own : `${own}#${positions.join(".")}`;
}

function errorOf(frame: Frame): { error: string } {
  const { failed = 0, error = "failed", total = 0 } = frame.children ?? {};
  return { error: total > 1 || failed > 1 ? `${failed} of ${total} failed, the first: ${error}` : error };
}
