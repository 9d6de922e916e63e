import type { Step } from "../schema/types.ts";
import { evolve, type Frame, type HistoryEntry, type Phase, type RunState } from "./history.ts";
import type { Program, ProgramModule } from "./program.ts";

export type StepRequestEntry = Extract<HistoryEntry, { type: "step.requested" }>;

/** The target of a goto that ends its module. */
export const END = "_end";

/** A decision in progress: the entries that it has added to the history, and the resulting state. */
export class Walk {
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

  /** Returns the added requests that are still valid. */
  requests(): StepRequestEntry[] {
    return this.entries.filter((entry): entry is StepRequestEntry => {
      return entry.type === "step.requested" && this.state.frames[entry.key]?.dispatch === entry.dispatch;
    });
  }

  /** Requests a step for the first time. */
  ask(key: string, step: Step, frame: RequestedFrame, phase: Phase): void {
    const round = frame.round ?? this.state.jumps;
    this.add(requestOf(key, step, { ...frame, round }, phase, this.state.dispatches + 1));
  }

  /** Requests a running step again. */
  askAgain(
    key: string,
    frame: Frame,
    phase: Phase,
    again: Partial<Pick<Frame, "attempt" | "interrupted" | "tries">> = {},
  ): void {
    const step = stepAt(this.program, frame);
    if (step !== undefined) this.ask(key, step, { round: 0, ...frame, ...again }, phase);
  }

  /** Returns the target of a goto; undefined if no step has the name, or if the steps declare dependencies. */
  target(module: number, goto: string): { step: string; position: number } | undefined {
    const { steps = [], waitsFor } = this.program.modules[module] ?? {};
    if (waitsFor !== undefined) return undefined;
    const position = goto === END ? steps.length : steps.findIndex(({ name }) => name === goto);
    return position < 0 ? undefined : { step: goto, position };
  }

  endRun(status: "completed" | "failed", error?: string): void {
    this.add({ type: "run.finished", status, ...(error === undefined ? {} : { error }) });
  }
}

export type RequestedFrame = Pick<Frame, "module" | "parent"> &
  Partial<Pick<Frame, "position" | "items" | "attempt" | "interrupted" | "tries" | "round">>;

/** Returns the entry that requests a step. */
export function requestOf(
  key: string,
  step: Step,
  frame: RequestedFrame,
  phase: Phase,
  dispatch: number,
): StepRequestEntry {
  const { module, parent, position, attempt, interrupted, tries, round = 0, items } = frame;
  return {
    type: "step.requested",
    key,
    step: step.name,
    step_type: step.type,
    module,
    ...(position === undefined ? {} : { position }),
    phase,
    parent,
    dispatch,
    ...(attempt === undefined ? {} : { attempt }),
    ...(interrupted === undefined ? {} : { interrupted }),
    ...(tries === undefined ? {} : { tries }),
    ...(round === 0 ? {} : { round }),
    ...(items === undefined ? {} : { items }),
  };
}

/** Returns the step of a frame; for a gate or handlers, a stand-in. */
export function stepAt(
  program: Program,
  { module, step, phase }: Pick<Frame, "module" | "step"> & { readonly phase: Frame["phase"] },
): Step | undefined {
  const holder = program.modules[module];
  if (holder === undefined) return undefined;
  return phase === "gate" || phase === "handlers" ? standIn(holder) : holder.byName.get(step);
}

const standIns = new WeakMap<ProgramModule, Step>();

/** Returns a step with the texts of a module's gate and handlers, for code that collects names from texts of steps. */
export function standIn(module: ProgramModule): Step {
  const known = standIns.get(module);
  if (known !== undefined) return known;
  const { name, gate, handlers, reports } = module;
  const step: Step = {
    type: "function",
    name,
    exports: {},
    on_success: handlers?.on_success ?? [],
    on_error: handlers?.on_error ?? [],
    ...(gate?.condition === undefined ? {} : { pre_condition: gate.condition }),
    ...(gate === undefined ? {} : { gate }),
    ...(reports === undefined ? {} : { reports }),
  };
  standIns.set(module, step);
  return step;
}

export function isContainer(step: Step): boolean {
  return step.type === "parallel-steps" || step.type === "foreach";
}

/** Returns the error of a container with failed children. */
export function errorOf(frame: Frame): { error: string } {
  const { failed = 0, error = "failed", total = 0 } = frame.children ?? {};
  return { error: total > 1 || failed > 1 ? `${failed} of ${total} failed, the first: ${error}` : error };
}
