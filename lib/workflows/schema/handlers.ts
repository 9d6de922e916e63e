import type { Path } from "./problems.ts";
import type { Action, Step } from "./types.ts";

type Warn = (path: Path, message: string) => void;

/** The commands and functions of steps, by step name; `{action: run, step: name}` repeats them. */
export type StepWork = ReadonlyMap<string, readonly Action[]>;

export function workOfSteps(steps: readonly Step[]): StepWork {
  const work = new Map<string, readonly Action[]>();
  const visit = (step: Step): void => {
    work.set(step.name, workOf(step));
    if (step.type === "foreach") visit(step.step);
    if (step.type === "parallel-steps") for (const child of step.parallel_steps) visit(child);
  };
  for (const step of steps) visit(step);
  return work;
}

function workOf(step: Step): readonly Action[] {
  if (step.type === "bash" && step.step_runner === undefined) {
    const single = step.command === undefined ? [] : [step.command];
    const commands = step.parallel_commands ?? step.commands ?? single;
    return commands.map((command) => ({ action: "run", type: "bash", command }));
  }
  if (step.type !== "function") return [];
  const single = step.function === undefined ? [] : [step.function];
  const functions = step.parallel_functions ?? step.functions ?? single;
  return [{ action: "run", type: "function", functions }];
}

/** Normalizes the handlers of a step and of its nested steps to the form that the executors read. */
export function withHandlers(step: Step, path: Path, work: StepWork, warn: Warn): Step {
  const handled = {
    ...step,
    on_success: readActions(step.on_success, [...path, "on_success"], work, warn),
    on_error: readActions(step.on_error, [...path, "on_error"], work, warn),
  };
  if (handled.type === "foreach")
    return { ...handled, step: withHandlers(handled.step, [...path, "step"], work, warn) };
  if (handled.type !== "parallel-steps") return handled;
  const children = handled.parallel_steps.map((child, at) =>
    withHandlers(child, [...path, "parallel_steps", at], work, warn),
  );
  return { ...handled, parallel_steps: children };
}

/** Drops incomplete actions with a warning: the reference runs such a workflow and ignores them. */
export function readActions(
  actions: readonly Action[],
  path: Path,
  work: StepWork,
  warn: Warn,
): readonly Action[] {
  return actions.flatMap((action, at): readonly Action[] => {
    const ignore = (message: string): readonly Action[] => {
      warn([...path, at], `${message}, ignored`);
      return [];
    };
    if (action.action === "export" && action.name === undefined)
      return ignore("an export action requires name");
    if (action.action !== "run" || hasWork(action)) return [action];
    const { step: name, condition } = action;
    if (name === undefined)
      return ignore("a run action requires command (type bash), functions (type function) or step");
    const repeated = work.get(name);
    if (repeated === undefined) return ignore(`unknown step "${name}"`);
    if (repeated.length === 0) return ignore(`the step "${name}" does not have a command or function`);
    return repeated.map((one) => (condition === undefined ? one : { ...one, condition }));
  });
}

const hasWork = ({ type, command, functions }: Action): boolean =>
  type === "function" ? functions !== undefined : command !== undefined;
