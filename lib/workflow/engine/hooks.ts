import type { Action, Definition, Step } from "../definition/types.ts";

const GO_ON: readonly Action[] = [{ action: "continue" }];

/**
 * The steps of a module with its hooks around them: one of these that fails is told of, and passed over. Those after
 * the steps run where the steps succeeded. Where steps name what they wait for, all wait for the hooks before them.
 */
export function hookedSteps(definition: Definition | undefined): readonly Step[] {
  if (definition?.hooks === undefined) return definition?.steps ?? [];
  const known = hooked.get(definition);
  if (known !== undefined) return known;
  const steps = withHooks(definition.steps, definition.hooks);
  hooked.set(definition, steps);
  return steps;
}

/** Made once a definition: names that steps refer to are kept by the step. */
const hooked = new WeakMap<Definition, readonly Step[]>();

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
