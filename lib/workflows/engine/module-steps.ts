import type { Action, Definition, FlowModule, Hook, RemoteBashStep, Step } from "../schema/types.ts";

const GO_ON: readonly Action[] = [{ action: "continue" }];

/** Returns the steps of a module as they are executed: with its hooks, and on the module's runner. */
export function stepsOf(definition: Definition | undefined): readonly Step[] {
  if (definition === undefined) return [];
  return once(definition, () => {
    const { steps, runner, hooks } = definition;
    return placed(hooks === undefined ? steps : withHooks(steps, hooks), runner);
  });
}

/** Returns the steps of a module that is defined inside the flow. */
export function inlineSteps(module: FlowModule): readonly Step[] {
  return once(module, () => placed(module.steps ?? [], undefined));
}

/** Returns the steps of a hook of a flow: a failure is logged and ignored. */
export function hookSteps(flow: Definition | undefined, hook: Hook): readonly Step[] {
  const steps = flow?.hooks?.[hook];
  return steps === undefined ? [] : once(steps, () => placed(steps.map(tolerant), undefined));
}

/** Compiled once per definition, because names in a step's texts are cached by step object. */
const compiled = new WeakMap<object, readonly Step[]>();

function once(origin: object, make: () => readonly Step[]): readonly Step[] {
  const known = compiled.get(origin);
  if (known !== undefined) return known;
  const made = make();
  compiled.set(origin, made);
  return made;
}

type Runner = Definition["runner"];

const placed = (steps: readonly Step[], runner: Runner): readonly Step[] =>
  steps.map((step) => placedBy(runner, step));

/** Makes the commands of a step and of its children run on the step's runner, or else on the module's. */
function placedBy(runner: Runner, step: Step): Step {
  if (step.type === "foreach") return { ...step, step: placedBy(runner, step.step) };
  if (step.type === "parallel-steps") return { ...step, parallel_steps: placed(step.parallel_steps, runner) };
  if (step.type !== "bash") return step;
  const { step_runner: kind = runner?.kind, step_runner_config: config, ...rest } = step;
  if (kind === undefined || kind === "host") return step;
  const shared = kind === runner?.kind ? runner.config : {};
  const remote: RemoteBashStep = {
    ...rest,
    type: "remote-bash",
    step_runner: kind,
    step_runner_config: { ...shared, ...config },
  };
  return remote;
}

/**
 * Adds the hooks of a module around its steps; a failing hook is logged and ignored. Hooks after the steps run only if
 * the steps succeeded. If steps declare dependencies, all of them wait for the hooks before them.
 */
function withHooks(
  steps: readonly Step[],
  { pre_scan_steps, post_scan_steps }: NonNullable<Definition["hooks"]>,
): readonly Step[] {
  const graph = steps.some(({ depends_on = [] }) => depends_on.length > 0);
  const before = chained(pre_scan_steps.map(tolerant), [], graph);
  const first = before.at(-1)?.name;
  const inner = steps.map((step) =>
    graph && first !== undefined && (step.depends_on ?? []).length === 0
      ? { ...step, depends_on: [first] }
      : step,
  );
  const names = inner.map(({ name }) => name);
  return [...before, ...inner, ...chained(post_scan_steps.map(tolerant), names, graph)];
}

/** Makes the failure of a step logged and ignored. */
function tolerant(step: Step): Step {
  return { ...step, on_error: [...step.on_error, ...GO_ON] };
}

function chained(steps: readonly Step[], after: readonly string[], graph: boolean): readonly Step[] {
  if (!graph) return steps;
  return steps.map((step, at) => {
    const before = steps[at - 1];
    return { ...step, depends_on: before === undefined ? after : [before.name] };
  });
}
