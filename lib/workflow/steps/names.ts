import type { Step } from "../definition/types.ts";
import { variableName } from "../runs/values.ts";
import { parseTemplate, referencedNames } from "../templates/parse.ts";

/** Names looked up for one step, at most. */
const NAMES_MAX = 500;
const IDENTIFIER = /[A-Za-z_$][\w$]*/g;

/** Names that a step's texts refer to; found once a step, definitions never change. */
export interface StepNames {
  readonly values: readonly string[];
  readonly secrets: readonly string[];
}

const namesOfStep = new WeakMap<Step, Map<string, StepNames>>();

/** What loops with these variables, outermost first, let templates name. */
export function loopNames(variables: readonly string[]): readonly string[] {
  return variables.length === 0 ? [] : [...variables.flatMap((name) => [name, `_${name}_`]), "_id_"];
}

/** Where the output of a step is kept; inside a foreach never in the way of a name that templates use. */
export function outputName(stepName: string, key: string): string {
  return key.includes("#") ? `#output:${key}` : `${variableName(stepName)}_output`;
}

/** The values and secrets that the texts of a step name, inside loops with these variables. */
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
    // A template that does not parse fails the step where it is rendered, with its place.
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

/** The texts of a step itself, without those of the steps that it holds. */
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
