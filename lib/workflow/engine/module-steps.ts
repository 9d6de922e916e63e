import type { Action, Definition, RemoteBashStep, Step } from "../definition/types.ts";

const GO_ON: readonly Action[] = [{ action: "continue" }];

/** The steps of a module as they are executed: with its hooks around them, and where its runner has them run. */
export function stepsOf(definition: Definition | undefined): readonly Step[] {
  if (definition?.hooks === undefined && definition?.runner === undefined) return definition?.steps ?? [];
  const known = compiled.get(definition);
  if (known !== undefined) return known;
  const { runner, hooks } = definition;
  const steps = hooks === undefined ? definition.steps : withHooks(definition.steps, hooks);
  const placed = runner === undefined ? steps : steps.map((step) => runBy(runner, step));
  compiled.set(definition, placed);
  return placed;
}

/** Made once a definition: names that steps refer to are kept by the step. */
const compiled = new WeakMap<Definition, readonly Step[]>();

/** The step with its commands, and those of the steps that it holds, run elsewhere. */
function runBy(runner: NonNullable<Definition["runner"]>, step: Step): Step {
  if (step.type === "foreach") return { ...step, step: runBy(runner, step.step) };
  if (step.type === "parallel-steps")
    return { ...step, parallel_steps: step.parallel_steps.map((child) => runBy(runner, child)) };
  if (step.type !== "bash") return step;
  const remote: RemoteBashStep = {
    ...step,
    ...{ type: "remote-bash", step_runner: runner.kind, step_runner_config: runner.config },
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
export function tolerant(step: Step): Step {
  return { ...step, on_error: [...step.on_error, ...GO_ON] };
}

function chained(steps: readonly Step[], after: readonly string[], graph: boolean): readonly Step[] {
  if (!graph) return steps;
  return steps.map((step, at) => {
    const before = steps[at - 1];
    return { ...step, depends_on: before === undefined ? after : [before.name] };
  });
}
