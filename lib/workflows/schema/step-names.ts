import { NAME_CHARACTERS } from "./limits.ts";
import type { Findings, Path } from "./problems.ts";
import type { Step } from "./types.ts";

export interface PlacedSteps {
  readonly steps: readonly Step[];
  readonly path: Path;
}

/**
 * Gives every step of a module, including nested ones, a unique name, on which outputs, records and keys depend. The
 * reference runs a workflow with duplicate step names, so later duplicates are numbered. Steps of a module's own list
 * are named before nested ones, because `goto` and `depends_on` refer to them.
 */
export function withUniqueNames<Key extends string>(
  lists: Readonly<Record<Key, PlacedSteps>>,
  findings: Findings,
): Record<Key, PlacedSteps> {
  const written = new Set<string>();
  for (const { steps } of Object.values<PlacedSteps>(lists))
    for (const step of steps) collectNames(step, written);
  const names = new UniqueNames(written, findings);
  const outer = mapSteps(lists, (step, path) => names.rename(step, path));
  return mapSteps(outer, (step, path) => names.renameInside(step, path));
}

function mapSteps<Key extends string>(
  lists: Readonly<Record<Key, PlacedSteps>>,
  change: (step: Step, path: Path) => Step,
): Record<Key, PlacedSteps> {
  const entries = Object.entries<PlacedSteps>(lists).map(([key, { steps, path }]) => [
    key,
    { steps: steps.map((step, at) => change(step, [...path, at])), path },
  ]);
  return Object.fromEntries(entries);
}

function collectNames(step: Step, names: Set<string>): void {
  names.add(step.name);
  for (const child of childrenOf(step)) collectNames(child, names);
}

function childrenOf(step: Step): readonly Step[] {
  if (step.type === "foreach") return [step.step];
  return step.type === "parallel-steps" ? step.parallel_steps : [];
}

class UniqueNames {
  readonly #taken: Set<string>;
  readonly #findings: Findings;
  /** Number of steps per name so far. */
  readonly #uses = new Map<string, number>();

  constructor(written: ReadonlySet<string>, findings: Findings) {
    this.#taken = new Set(written);
    this.#findings = findings;
  }

  rename(step: Step, path: Path): Step {
    let uses = (this.#uses.get(step.name) ?? 0) + 1;
    if (uses === 1) {
      this.#uses.set(step.name, uses);
      return step;
    }
    let name = numbered(step.name, uses);
    while (this.#taken.has(name)) {
      uses += 1;
      name = numbered(step.name, uses);
    }
    this.#uses.set(step.name, uses);
    this.#taken.add(name);
    this.#findings.warn(
      [...path, "name"],
      `the step name "${step.name}" is used more than once: this step is called "${name}"`,
    );
    return { ...step, name };
  }

  renameInside(step: Step, path: Path): Step {
    const inner = (child: Step, at: Path): Step => this.renameInside(this.rename(child, at), at);
    if (step.type === "foreach") return { ...step, step: inner(step.step, [...path, "step"]) };
    if (step.type !== "parallel-steps") return step;
    const children = step.parallel_steps.map((child, at) => inner(child, [...path, "parallel_steps", at]));
    return { ...step, parallel_steps: children };
  }
}

function numbered(name: string, number: number): string {
  const suffix = `-${number}`;
  return name.slice(0, NAME_CHARACTERS - suffix.length) + suffix;
}
