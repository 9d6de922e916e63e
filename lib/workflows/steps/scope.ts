import { crc32 } from "node:zlib";
import type { Ports } from "../../platform/ports.ts";
import { StepFailedError } from "../engine/step-failure.ts";
import { loopNames } from "../expressions/variable-names.ts";
import { stepNames } from "../values/needed-names.ts";
import { openValues } from "../values/stored-values.ts";
import type { LoopValue, Scope, StepDeps } from "./context.ts";
import type { StepWork } from "./messages.ts";
import { toLocalPaths } from "./portable-paths.ts";

const PATH_UNSAFE = /[^A-Za-z0-9._-]/g;

/**
 * Returns the values for the templates and scripts of a step: those in its work, and secrets. Loop variables have no
 * values until `bindLoop` sets them. Throws StepFailedError for a missing secret.
 */
export async function openScope(
  deps: Pick<StepDeps, "blobs" | "secrets" | "paths" | "workspaceSync">,
  work: StepWork,
  variables: readonly string[],
  attempt: number,
): Promise<Scope> {
  const { values, trusted } = await openValues(deps, work);
  for (const [name, value] of Object.entries(values)) values[name] = toLocalPaths(deps, value);
  const { secrets } = stepNames(work.step, variables);
  values["attempt"] = attempt;
  if (secrets.length > 0) values["secrets"] = await loadSecrets(deps, secrets);
  const loopVariables = loopNames(variables);
  return {
    values,
    trusted: new Set(trusted.filter((name) => !loopVariables.includes(name))),
    loopVariables,
  };
}

/** Adds the variables of one item: its value, its path-safe form, and its position from 1. */
export function bindLoop(scope: Scope, loop: LoopValue): Scope {
  const values: Record<string, unknown> = Object.assign(
    Object.create(null) as Record<string, unknown>,
    scope.values,
  );
  values[loop.variable] = loop.value;
  values[`_${loop.variable}_`] = pathSafe(String(loop.value));
  values["_id_"] = loop.index + 1;
  return { ...scope, values };
}

/** Longest `[[_name_]]` that is not shortened, characters. */
const PATH_NAME_MAX_LENGTH = 30;

/** Length of the part of a shortened name before the checksum, characters. */
const PATH_NAME_PREFIX_LENGTH = 20;

/**
 * Returns a value as part of a path; a long one ends in the CRC-32 of the whole value, in hexadecimal. Reference 2.5.
 */
function pathSafe(value: string): string {
  const name = value.replaceAll(PATH_UNSAFE, "_");
  if (name.length <= PATH_NAME_MAX_LENGTH) return name;
  const checksum = crc32(value).toString(16).padStart(8, "0");
  return `${name.slice(0, PATH_NAME_PREFIX_LENGTH)}_${checksum}`;
}

async function loadSecrets(
  deps: Pick<Ports, "secrets">,
  names: readonly string[],
): Promise<Record<string, string>> {
  const secrets: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const name of names) {
    const value = await deps.secrets.get(name).catch(unreadable);
    if (value !== undefined) secrets[name] = value;
  }
  // A name with a hyphen is looked up in two spellings; one of them is enough.
  const spelling = (name: string): string => name.replaceAll("-", "_");
  const found = new Set(Object.keys(secrets).map(spelling));
  const absent = [...new Set(names.map(spelling))].filter((name) => !found.has(name));
  if (absent.length > 0) throw new StepFailedError(`unknown secret: ${absent.join(", ")}`);
  return secrets;
}

/** If others can read the secrets file, or it is invalid, its owner must fix it: the step fails without a retry. */
function unreadable(error: unknown): never {
  const { code, message } = error as { code?: unknown; message?: string };
  if (code === "secrets_unreadable") throw new StepFailedError(message ?? "the secrets file cannot be read");
  throw error;
}
