import { readFile, stat } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import { StepFailedError } from "../engine/step-failure.ts";
import { parseTemplate } from "../expressions/parse.ts";
import { renderText } from "../expressions/render-text.ts";
import type { Dependencies, TargetType } from "../schema/types.ts";
import { remaining, stepEnvironment, stepToken } from "./attempt-environment.ts";
import { pathIn } from "./bash.ts";
import type { Attempt, Scope } from "./context.ts";
import { isTrue } from "./script.ts";

const LOOK_MS = 30_000;
const COMMAND_NAME = /^[A-Za-z0-9_][A-Za-z0-9._+-]{0,127}$/;

/** Checks that all dependencies of a workflow exist. Throws StepFailedError naming the missing ones. Reference 2.3. */
export async function checkDependencies(
  attempt: Attempt,
  scope: Scope,
  { commands, files, target_types, variables, functions_conditions }: Dependencies,
): Promise<void> {
  const text = (source: string): string => renderText(parseTemplate(source, scope), scope.values);
  const target = String(scope.values["Target"] ?? "");
  if (target_types.length > 0) await checkType(attempt, "target", target, target_types);
  for (const { name, types } of variables) {
    if (types.length > 0) await checkType(attempt, name, String(scope.values[name] ?? ""), types);
  }
  await checkCommands(attempt, commands.map(text));
  for (const path of files.map(text)) {
    if (!(await isThere(attempt, path)))
      throw new StepFailedError(`dependency check failed: required file not found: ${path}`);
  }
  for (const condition of functions_conditions) {
    if (!(await isTrue(attempt, scope, condition)))
      throw new StepFailedError(`dependency check failed: condition does not hold: ${condition}`);
  }
}

/** Uses the shell that executes the steps, on the machine that executes them. */
async function checkCommands(attempt: Attempt, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const odd = names.find((name) => !COMMAND_NAME.test(name));
  if (odd !== undefined)
    throw new StepFailedError(`dependency check failed: not the name of a command: ${odd}`);
  const script = 'for name in "$@"; do command -v "$name" >/dev/null || { echo "$name"; exit 1; }; done';
  const path = join(attempt.logs, `dependencies.${attempt.request.dispatch}.${attempt.number}`);
  const outcome = await attempt.deps.commands.run({
    argv: [attempt.deps.shell, "-c", script, "sh", ...names],
    cwd: attempt.workspace,
    env: stepEnvironment(attempt),
    stdoutPath: `${path}.out`,
    stderrPath: `${path}.err`,
    timeoutMs: remaining(attempt, LOOK_MS),
    signal: attempt.signal,
    token: stepToken(attempt),
  });
  if (outcome.exitCode === 0) return;
  const missing = (await readFile(`${path}.out`, "utf8")).trim();
  throw new StepFailedError(`dependency check failed: required command not found: ${missing}`);
}

async function checkType(
  attempt: Attempt,
  name: string,
  value: string,
  types: readonly TargetType[],
): Promise<void> {
  for (const type of types) if (await isOfType(attempt, value, type)) return;
  throw new StepFailedError(`dependency check failed: ${name} is not of type ${types.join(" or ")}`);
}

const DOMAIN =
  /^(?=.{1,253}$)(?:[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z][A-Za-z0-9-]{1,62}$/;
const REPOSITORY = /^(?:git@[\w.-]+:|https?:\/\/(?:www\.)?(?:github|gitlab)\.com\/)?[\w.-]+\/[\w./-]+$/;

async function isOfType(attempt: Attempt, value: string, type: TargetType): Promise<boolean> {
  switch (type) {
    case "string":
      return value !== "";
    case "number":
      return value.trim() !== "" && Number.isFinite(Number(value));
    case "ip":
      return isIP(value) !== 0;
    case "cidr":
      return isCidr(value);
    case "url":
      return /^https?:\/\//i.test(value) && URL.canParse(value);
    case "domain":
      return DOMAIN.test(value);
    case "subdomain":
      return DOMAIN.test(value) && value.split(".").length >= 3;
    case "repo":
      return REPOSITORY.test(value);
    case "path":
      return value !== "" && !value.includes("\0");
    case "file":
    case "folder": {
      const found = await stat(pathIn(attempt, value)).catch(() => undefined);
      return type === "file" ? found?.isFile() === true : found?.isDirectory() === true;
    }
  }
}

function isCidr(value: string): boolean {
  const [address = "", bits = "", ...rest] = value.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0 || !/^\d{1,3}$/.test(bits)) return false;
  return Number(bits) <= (family === 4 ? 32 : 128);
}

async function isThere(attempt: Attempt, path: string): Promise<boolean> {
  return (await stat(pathIn(attempt, path)).catch(() => undefined)) !== undefined;
}
