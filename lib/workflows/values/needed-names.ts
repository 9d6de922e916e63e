import { everyStep } from "../engine/program.ts";
import { type NeededName, neededNames, parseTemplate, referencedNames } from "../expressions/parse.ts";
import { loopNames, variableName } from "../expressions/variable-names.ts";
import type { Action, Step } from "../schema/types.ts";

/** Maximum number of names that are looked up for one step. */
const NAMES_MAX = 500;

const IDENTIFIER = /[A-Za-z_$][\w$]*/g;

/** Names in a step's texts; computed once per step, since definitions never change. */
export interface StepNames {
  readonly values: readonly string[];
  readonly secrets: readonly string[];
}

const namesOfStep = new WeakMap<Step, Map<string, StepNames>>();

/** Name of the value with a step's output; inside a foreach it cannot collide with names in templates. */
export function outputName(stepName: string, key: string): string {
  return key.includes("#") ? `#output:${key}` : `${variableName(stepName)}_output`;
}

/** Returns the values and secrets that the texts of a step name, inside loops with these variables. */
export function stepNames(step: Step, variables: readonly string[]): StepNames {
  const loopVariables = loopNames(variables);
  const key = loopVariables.join(",");
  const known = namesOfStep.get(step) ?? new Map<string, StepNames>();
  namesOfStep.set(step, known);
  const found = known.get(key);
  if (found !== undefined) return found;
  const names = new Set<string>();
  for (const text of ownTexts(step)) addNames(names, text.value, text.script, loopVariables);
  const result = {
    values: [...names].filter((name) => !name.startsWith("secrets.")).slice(0, NAMES_MAX),
    secrets: [...names]
      .filter((name) => name.startsWith("secrets."))
      .map((name) => name.slice("secrets.".length)),
  };
  known.set(key, result);
  return result;
}

/** Names in a step's templates that need a value: those of its condition, and all others. */
export interface NeededNames {
  readonly condition: readonly NeededName[];
  readonly work: readonly NeededName[];
}

const neededOfStep = new WeakMap<Step, Map<string, NeededNames>>();

/** Excludes names that the step itself sets, and those of its loops. */
export function neededOf(step: Step, loopVariables: readonly string[]): NeededNames {
  const key = loopVariables.join(",");
  const known = neededOfStep.get(step) ?? new Map<string, NeededNames>();
  neededOfStep.set(step, known);
  const found = known.get(key);
  if (found !== undefined) return found;
  const own = new Set([...namesLeftBy(step), ...OF_ENDS, ...loopVariables, ...gateParams(step)]);
  const needed = (fields: (field: string) => boolean): readonly NeededName[] => {
    const texts = Object.entries(step).flatMap(([field, value]) =>
      CHILD_FIELDS.has(field) || !fields(field) ? [] : [...textsIn(value, false)],
    );
    const names = new Map<string, NeededName>();
    for (const { value } of texts) {
      if (value.includes("{{"))
        for (const one of neededIn(value, loopVariables)) if (!one.optional) names.set(one.name, one);
    }
    return [...names.values()].filter(({ spellings }) => !spellings.some((name) => own.has(name)));
  };
  const result = {
    condition: needed((field) => field === "pre_condition"),
    work: needed((field) => field !== "pre_condition"),
  };
  known.set(key, result);
  return result;
}

/** Names that handlers and exports can use besides the values of the run. */
const OF_ENDS: readonly string[] = ["error", "output", "attempt"];

/** A module's own parameters have values after its gate. */
const gateParams = (step: Step): string[] =>
  step.type === "function" ? (step.gate?.params ?? []).map(({ name }) => name) : [];

/** A template that does not parse fails the step when it is rendered. */
export function neededIn(text: string, loopVariables: readonly string[]): readonly NeededName[] {
  try {
    return neededNames(parseTemplate(text, { loopVariables }));
  } catch {
    return [];
  }
}

/** Names that step types set besides their output. */
const LEFT_BY_TYPE: Readonly<Partial<Record<Step["type"], readonly string[]>>> = {
  http: ["status_code", "body", "headers", "http_resp"],
  llm: ["llm_resp", "content"],
};

/** Returns the names of values that a step and its children set. */
export function namesLeftBy(step: Step): string[] {
  return everyStep([step]).flatMap((each) => {
    const prefix = variableName(each.name);
    return [
      ...["output", ...(LEFT_BY_TYPE[each.type] ?? [])].map((what) => `${prefix}_${what}`),
      ...Object.keys(each.exports),
      ...exportedBy([...each.on_success, ...each.on_error]),
    ];
  });
}

export const exportedBy = (actions: readonly Action[]): string[] =>
  actions.flatMap(({ action, name }) => (action === "export" && name !== undefined ? [name] : []));

function addNames(names: Set<string>, text: string, script: boolean, loopVariables: readonly string[]): void {
  if (text.includes("{{") || text.includes("[[")) {
    for (const name of namesIn(text, loopVariables)) names.add(name);
  }
  if (!script) return;
  for (const [name] of text.matchAll(IDENTIFIER)) names.add(name);
}

function namesIn(text: string, loopVariables: readonly string[]): readonly string[] {
  try {
    return referencedNames(parseTemplate(text, { loopVariables }));
  } catch {
    // A template that does not parse fails the step when it is rendered, with its position.
    return [];
  }
}

const SCRIPT_FIELDS: ReadonlySet<string> = new Set([
  "pre_condition",
  "function",
  "functions",
  "parallel_functions",
  "exports",
  "condition",
  "if",
  "functions_conditions",
  "variable_pre_process",
]);

const CHILD_FIELDS: ReadonlySet<string> = new Set(["step", "parallel_steps", "name", "type"]);

/** Yields the texts of a step itself, without those of its children. */
function* ownTexts(step: Step): Generator<{ value: string; script: boolean }> {
  for (const [field, value] of Object.entries(step)) {
    if (!CHILD_FIELDS.has(field)) yield* textsIn(value, SCRIPT_FIELDS.has(field));
  }
}

function* textsIn(value: unknown, script: boolean): Generator<{ value: string; script: boolean }> {
  if (typeof value === "string") yield { value, script };
  else if (Array.isArray(value)) for (const item of value) yield* textsIn(item, script);
  else if (typeof value === "object" && value !== null) {
    for (const [name, item] of Object.entries(value)) yield* textsIn(item, script || SCRIPT_FIELDS.has(name));
  }
}

/** The export of a foreach that names a file for the outputs of all its items. Reference 2.4. */
export const STREAM_EXPORT = "streaming_output";
