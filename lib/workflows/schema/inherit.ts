import type { Findings, Path } from "./problems.ts";
import type { ReadOverride, ReadWorkflow } from "./schema.ts";
import type { IncompleteTrigger, ReadTrigger } from "./schema-triggers.ts";
import type { Definition, Dependencies, FlowModule, Param, Report, Step, WorkflowKind } from "./types.ts";

/** A report whose path may be missing. */
export type ReadReport = Omit<Report, "path"> & { readonly path?: string };

/** The parts of a workflow, as read or after inheritance. */
export interface WorkflowParts {
  readonly name?: string;
  readonly kind?: WorkflowKind;
  readonly description: string;
  readonly tags: readonly string[];
  readonly hidden: boolean;
  readonly params: readonly Param[];
  readonly triggers: readonly (ReadTrigger | IncompleteTrigger)[];
  readonly steps?: readonly Step[];
  readonly modules?: readonly FlowModule[];
  readonly hooks?: NonNullable<Definition["hooks"]>;
  readonly dependencies?: Dependencies;
  readonly runner?: NonNullable<ReadWorkflow["runner"]>;
  readonly runner_config?: NonNullable<ReadWorkflow["runner_config"]>;
  readonly reports: readonly ReadReport[];
  readonly preferences: ReadWorkflow["preferences"];
  readonly undefined?: Definition["undefined"] & string;
}

/** Parts of a child that are ignored, with a warning, outside `override`. */
const OWN_PARTS = ["params", "triggers", "steps", "modules", "hooks", "dependencies"] as const;

/**
 * Merges a workflow with its parent: the parent's parts with the child's changes. The parent is the stored definition,
 * which includes its own inherited parts. Reference 2.10.
 */
export function inherit(child: ReadWorkflow, parent: Definition, findings: Findings): WorkflowParts {
  const { override = {} } = child;
  if (child.kind !== undefined && child.kind !== parent.kind)
    findings.refuse(["kind"], `${parent.name}, which it extends, is a ${parent.kind}`);
  for (const part of OWN_PARTS) {
    const own = child[part];
    if (own !== undefined && (!Array.isArray(own) || own.length > 0))
      findings.warn([part], "must be changed in override in a workflow that extends another, ignored");
  }
  const undefinedNames = child.undefined ?? parent.undefined;
  const dependencies = mergeDependencies(parent.dependencies, override.dependencies);
  return {
    ...(child.name === undefined ? {} : { name: child.name }),
    kind: parent.kind,
    description: child.description === "" ? parent.description : child.description,
    tags: child.tags.length === 0 ? parent.tags : child.tags,
    hidden: child.hidden,
    params: mergeParams(parent.params, override.params),
    triggers: override.triggers ?? parent.triggers,
    ...(parent.kind === "module"
      ? { steps: mergeList(parent.steps, override.steps, ["override", "steps"], findings) }
      : { modules: mergeList(parent.modules, override.modules, ["override", "modules"], findings) }),
    ...(parent.hooks === undefined ? {} : { hooks: parent.hooks }),
    ...(dependencies === undefined ? {} : { dependencies }),
    ...mergeRunner(parent.runner, override),
    preferences: { ...parent.preferences, ...child.preferences, ...override.preferences },
    ...(undefinedNames === undefined ? {} : { undefined: undefinedNames }),
    reports: child.reports.length === 0 ? (parent.reports ?? []) : child.reports,
  };
}

function mergeRunner(
  parent: Definition["runner"],
  { runner = parent?.kind, runner_config: config = {} }: ReadOverride,
): Pick<WorkflowParts, "runner" | "runner_config"> {
  if (runner === undefined || runner === "host") return {};
  return {
    runner,
    runner_config: { ...(runner === parent?.kind ? parent.config : {}), ...config } as RunnerConfig,
  };
}

type RunnerConfig = NonNullable<WorkflowParts["runner_config"]>;

function mergeParams(
  parents: Definition["params"],
  changes: ReadOverride["params"] = {},
): WorkflowParts["params"] {
  const known = parents.map((param) => ({ ...param, ...changes[param.name] }));
  const names = new Set(parents.map(({ name }) => name));
  const added = Object.entries(changes)
    .filter(([name]) => !names.has(name))
    .map(([name, change]) => ({ name, type: "string" as const, required: false, ...change }));
  return [...known, ...added];
}

interface Named {
  readonly name: string;
}

interface ListChange<Item extends Named> {
  readonly mode: "append" | "prepend" | "replace" | "merge";
  readonly items: readonly Item[];
  readonly remove: readonly string[];
  readonly replace: readonly Item[];
}

/** Order: removals, replacements, additions. */
function mergeList<Item extends Named>(
  parents: readonly Item[],
  change: ListChange<Item> | undefined,
  path: Path,
  findings: Findings,
): Item[] {
  if (change === undefined) return [...parents];
  const names = new Set(parents.map(({ name }) => name));
  const absent = [...change.remove, ...change.replace.map(({ name }) => name)].find(
    (name) => !names.has(name),
  );
  if (absent !== undefined) findings.refuse(path, `the extended workflow has no "${absent}"`);
  if (change.mode === "replace") return [...change.items];
  const instead = new Map(change.replace.map((item) => [item.name, item]));
  if (change.mode === "merge") for (const item of change.items) instead.set(item.name, item);
  const kept = parents
    .filter(({ name }) => !change.remove.includes(name))
    .map((item) => instead.get(item.name) ?? item);
  const added = change.mode === "merge" ? change.items.filter(({ name }) => !names.has(name)) : change.items;
  return change.mode === "prepend" ? [...added, ...kept] : [...kept, ...added];
}

function mergeDependencies(
  parent: Dependencies | undefined,
  child: Dependencies | undefined,
): Dependencies | undefined {
  if (parent === undefined || child === undefined) return child ?? parent;
  const both = <Item>(one: readonly Item[], other: readonly Item[]): Item[] => [
    ...new Set([...one, ...other]),
  ];
  return {
    commands: both(parent.commands, child.commands),
    files: both(parent.files, child.files),
    target_types: both(parent.target_types, child.target_types),
    variables: [
      ...parent.variables.map(({ name, types }) => ({ name, types: [...types] })),
      ...child.variables,
    ],
    functions_conditions: both(parent.functions_conditions, child.functions_conditions),
  };
}
