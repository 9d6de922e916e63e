import type { Ports } from "../../platform/ports.ts";
import type { Step } from "../definition/types.ts";
import type { StoredRun } from "../runs/table.ts";
import { loadValues } from "../runs/values.ts";
import { parseTemplate, referencedNames } from "../templates/parse.ts";
import type { LoopValue, Scope } from "./context.ts";
import { StepFailed } from "./failure.ts";

/** Names looked up for one step, at most. */
const NAMES_MAX = 500;
const IDENTIFIER = /[A-Za-z_$][\w$]*/g;
const PATH_UNSAFE = /[^A-Za-z0-9._-]/g;

/** Names that a step's texts refer to; found once a step, definitions never change. */
interface StepNames {
  readonly values: readonly string[];
  readonly secrets: readonly string[];
}

const namesOfStep = new WeakMap<Step, Map<string, StepNames>>();

/**
 * Loads what the step's templates and scripts name, and nothing else: values of the run and secrets. Loop
 * variables are names only until `bindLoop` gives them values. Throws StepFailed for a secret that is not there.
 */
export async function loadScope(
  deps: Pick<Ports, "tables" | "blobs" | "secrets">,
  run: StoredRun,
  step: Step,
  variables: readonly string[],
  attempt: number,
): Promise<Scope> {
  const loopVariables =
    variables.length === 0 ? [] : [...variables.flatMap((name) => [name, `_${name}_`]), "_id_"];
  const names = stepNames(step, loopVariables);
  const loaded = names.values.length === 0 ? undefined : await loadValues(deps, run.run_id, names.values);
  const values = loaded?.values ?? (Object.create(null) as Record<string, unknown>);
  values["attempt"] = attempt;
  if (names.secrets.length > 0) values["secrets"] = await loadSecrets(deps, names.secrets);
  const trusted = [...(loaded?.trusted ?? [])].filter((name) => !loopVariables.includes(name));
  return { values, trusted: new Set(trusted), loopVariables };
}

/** The scope with the variables of one item: itself, its form that is safe in paths, and its place from 1. */
export function bindLoop(scope: Scope, loop: LoopValue): Scope {
  const values: Record<string, unknown> = Object.assign(
    Object.create(null) as Record<string, unknown>,
    scope.values,
  );
  values[loop.variable] = loop.value;
  values[`_${loop.variable}_`] = String(loop.value)
    .replaceAll(PATH_UNSAFE, "_")
    .slice(0, PATH_NAME_MAX_LENGTH);
  values["_id_"] = loop.index + 1;
  return { ...scope, values };
}

/** Longest `[[_name_]]`, characters. */
const PATH_NAME_MAX_LENGTH = 100;

async function loadSecrets(
  deps: Pick<Ports, "secrets">,
  names: readonly string[],
): Promise<Record<string, string>> {
  const secrets: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const name of names) {
    const value = await deps.secrets.get(name).catch(unreadable);
    if (value !== undefined) secrets[name] = value;
  }
  // A name with a hyphen is looked up in two spellings: one of them is enough.
  const spelling = (name: string): string => name.replaceAll("-", "_");
  const found = new Set(Object.keys(secrets).map(spelling));
  const absent = [...new Set(names.map(spelling))].filter((name) => !found.has(name));
  if (absent.length > 0) throw new StepFailed(`no such secret: ${absent.join(", ")}`);
  return secrets;
}

/** A secrets file that others may read is its owner's to mend: trying again would change nothing. */
function unreadable(error: unknown): never {
  const { code, message } = error as { code?: unknown; message?: string };
  if (code === "secrets_unreadable")
    throw new StepFailed(`the secrets file is readable by others: ${message}`);
  throw error;
}

function stepNames(step: Step, loopVariables: readonly string[]): StepNames {
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
