import type { Action, Definition, FlowModule, Hook, RemoteBashStep, Step } from "../schema/types.ts";

const GO_ON: readonly Action[] = [{ action: "continue" }];

/** The steps of a module as they are executed: with its hooks around them, and where its runner has them run. */
export function stepsOf(definition: Definition | undefined): readonly Step[] {
  if (definition === undefined) return [];
  return once(definition, () => {
    const { steps, runner, hooks } = definition;
    return placed(hooks === undefined ? steps : withHooks(steps, hooks), runner);
  });
}

/** Those of a module whose steps stand in the flow itself. */
export function inlineSteps(module: FlowModule): readonly Step[] {
  return once(module, () => placed(module.steps ?? [], undefined));
}

/** Those before or after the modules of a flow: one that fails is told of, and passed over. */
export function hookSteps(flow: Definition | undefined, hook: Hook): readonly Step[] {
  const steps = flow?.hooks?.[hook];
  return steps === undefined ? [] : once(steps, () => placed(steps.map(tolerant), undefined));
}

/** Made once a definition: names that steps refer to are kept by the step. */
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

/** The step with its commands, and those of the steps that it holds, run where it says, or else its module. */
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
 * The steps of a module with its hooks around them: one of these that fails is told of, and passed over. Those after
 * the steps run where the steps succeeded. Where steps name what they wait for, all wait for the hooks before them.
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

/** A step whose failure is told of, and passed over. */
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
