import { mkdir, open, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { CommandOutcome } from "../../platform/commands.ts";
import { StepCancelledError, StepFailedError } from "../engine/step-failure.ts";
import { parseTemplate } from "../expressions/parse.ts";
import { renderShell } from "../expressions/render-shell.ts";
import { renderText } from "../expressions/render-text.ts";
import type { BashStep } from "../schema/types.ts";
import { remaining, shownEnvironment, stepEnvironment, stepToken } from "./attempt-environment.ts";
import type { Attempt, Scope, StepOutput } from "./context.ts";
import { followOutput } from "./follow-output.ts";
import { logStep } from "./run-log.ts";

/** Maximum output kept as the step's value, bytes; the output file is complete. */
const OUTPUT_MAX_BYTES = 10 * 1024 * 1024;
const ERROR_TAIL_BYTES = 2_000;
/** Longest script that is passed as an argument, bytes; a longer one is passed in a file. */
const ARGUMENT_MAX_BYTES = 100 * 1024;
const TRUNCATED = "\n[output truncated]";

/** Runs the commands of a bash step in its workspace. Throws StepFailedError. Seed: workflow 2.7. */
export async function runBash(attempt: Attempt, scope: Scope, step: BashStep): Promise<StepOutput> {
  const sources = step.parallel_commands ?? step.commands ?? [step.command ?? ""];
  const rendered = sources.map((source) => renderText(parseTemplate(source, scope), displayValues(scope)));
  for (const command of rendered) logStep(attempt, `$ ${command}`);
  attempt.shown.command = rendered.join("\n");
  attempt.shown.logFile = outputPath(attempt, 0, "out");
  const output = await keepingOutput(attempt, scope, step, async () => {
    const outputs: string[] = [];
    if (step.parallel_commands !== undefined) {
      const results = await Promise.allSettled(
        sources.map((source, index) => runCommand(attempt, scope, source, index)),
      );
      const failed = results.find((result) => result.status === "rejected");
      if (failed !== undefined) throw failed.reason;
      for (const result of results) if (result.status === "fulfilled") outputs.push(result.value);
    } else {
      for (const [index, source] of sources.entries())
        outputs.push(await runCommand(attempt, scope, source, index));
    }
    return joined(outputs);
  });
  return { command: attempt.shown.command, output, exports: {}, logFile: attempt.shown.logFile };
}

/** Joins the outputs of commands. */
export const joined = (outputs: readonly string[]): string =>
  outputs.filter((text) => text !== "").join("\n");

/**
 * Returns the output of a step's commands and writes it to the step's `std_file`: all of it, or the part before the
 * failure. Creates the folders of the file. Throws StepFailedError. Reference 2.5.
 */
export async function keepingOutput(
  attempt: Attempt,
  scope: Scope,
  {
    std_file: file,
    commands,
    parallel_commands,
  }: Pick<BashStep, "std_file" | "commands" | "parallel_commands">,
  work: () => Promise<string>,
): Promise<string> {
  if (file === undefined) return work();
  const path = pathIn(attempt, renderText(parseTemplate(file, scope), scope.values));
  let output: string;
  try {
    output = await work();
  } catch (thrown) {
    const count = (parallel_commands ?? commands ?? [""]).length;
    if (thrown instanceof StepFailedError)
      await writeOutput(path, await printedSoFar(attempt, count)).catch((error: unknown) => {
        attempt.deps.log.warn("writing std_file failed", { run: attempt.run.run_id, error });
      });
    throw thrown;
  }
  await writeOutput(path, output);
  return output;
}

async function writeOutput(path: string, output: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, output);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw new StepFailedError(`std_file: ${path} could not be written: ${code}`, { cause: error });
  }
}

/** Returns the output of the commands that were started. */
async function printedSoFar(attempt: Attempt, commands: number): Promise<string> {
  const texts = await Promise.all(
    Array.from({ length: commands }, (_, index) =>
      readHead(outputPath(attempt, index, "out"), OUTPUT_MAX_BYTES).catch(() => ""),
    ),
  );
  return attempt.deps.secrets.redact(joined(texts.map((text) => text.trim())));
}

/** Returns the values for displaying a command: secrets are shown by name. */
export function displayValues(scope: Scope): Record<string, unknown> {
  if (!("secrets" in scope.values)) return scope.values;
  const names = Object.keys(scope.values["secrets"] as Record<string, string>);
  return { ...scope.values, secrets: Object.fromEntries(names.map((name) => [name, "***"])) };
}

async function runCommand(attempt: Attempt, scope: Scope, source: string, index: number): Promise<string> {
  const files: { path: string; value: string }[] = [];
  const shell = renderShell(parseTemplate(source, scope), scope.values, {
    trusted: (root) => scope.trusted.has(root),
    writeFile: (name, value) => {
      const path = `${outputPath(attempt, index, "value")}.${name}`;
      files.push({ path, value });
      return path;
    },
  });
  attempt.shown.environment = shownEnvironment(attempt, shell.env);
  for (const { path, value } of files) await writeFile(path, value, { mode: 0o600 });
  let argv = [attempt.deps.shell, "-c", shell.script];
  if (Buffer.byteLength(shell.script) > ARGUMENT_MAX_BYTES) {
    const scriptPath = outputPath(attempt, index, "sh");
    await writeFile(scriptPath, shell.script, { mode: 0o600 });
    argv = [attempt.deps.shell, scriptPath];
  }
  const stdoutPath = outputPath(attempt, index, "out");
  const stderrPath = outputPath(attempt, index, "err");
  const follower = followOutput(attempt, { stdoutPath, stderrPath });
  const outcome = await attempt.deps.commands.run({
    argv,
    cwd: attempt.workspace,
    env: { ...stepEnvironment(attempt), ...shell.env },
    stdoutPath,
    stderrPath,
    timeoutMs: remaining(attempt, COMMAND_TIMEOUT_MS),
    signal: attempt.signal,
    token: stepToken(attempt),
  });
  try {
    const text = await resultOf(attempt, outcome, stdoutPath, stderrPath);
    await follower.end(outcome, text);
    return text;
  } catch (thrown) {
    await follower.end(outcome);
    throw thrown;
  }
}

/** Timeout of a command if the step has none, milliseconds: every wait is bounded. */
export const COMMAND_TIMEOUT_MS = 24 * 60 * 60 * 1000;

/** Returns the output of a successful command. Throws StepFailedError with the end of its standard error. */
export async function resultOf(
  attempt: Attempt,
  outcome: CommandOutcome,
  stdoutPath: string,
  stderrPath: string,
): Promise<string> {
  if (outcome.aborted) throw new StepCancelledError();
  if (outcome.timedOut)
    throw new StepFailedError(`command timed out after ${Math.round(outcome.durationMs)} ms`);
  if (outcome.exitCode !== 0) {
    const how =
      outcome.exitCode === null
        ? `was ended by ${outcome.signal ?? "a signal"}`
        : `failed with exit code ${outcome.exitCode}`;
    const tail = outcome.stderrBytes === 0 ? "" : (await readTail(stderrPath, ERROR_TAIL_BYTES)).trim();
    throw new StepFailedError(tail === "" ? `command ${how}` : `command ${how}: ${tail}`);
  }
  if (outcome.stdoutBytes === 0) return "";
  const text = await readHead(stdoutPath, OUTPUT_MAX_BYTES);
  return attempt.deps.secrets.redact(outcome.stdoutBytes > OUTPUT_MAX_BYTES ? text + TRUNCATED : text.trim());
}

async function readHead(path: string, bytes: number): Promise<string> {
  return readPart(path, () => ({ start: 0, bytes }));
}

async function readTail(path: string, bytes: number): Promise<string> {
  return readPart(path, (size) => ({ start: Math.max(0, size - bytes), bytes }));
}

async function readPart(
  path: string,
  part: (size: number) => { start: number; bytes: number },
): Promise<string> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const { start, bytes } = part(size);
    const buffer = Buffer.alloc(Math.min(bytes, size - start));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, start);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Path of an output file: `<step key>.<attempt>.<command>.<kind>` in the run's folder. */
export const outputPath = (attempt: Attempt, index: number, kind: string): string =>
  join(attempt.logs, outputFileName(attempt.request.key, attempt.number, index, kind));

/** Name of an output file of an attempt's command, in the run's folder. */
export const outputFileName = (key: string, attempt: number, index: number, kind: string): string =>
  `${key.replaceAll(/[^A-Za-z0-9._#-]/g, "_")}.${attempt}.${index}.${kind}`;

/** Resolves a path of a step; relative paths start at its workspace. */
export function pathIn(attempt: Pick<Attempt, "workspace">, path: string): string {
  return isAbsolute(path) ? path : resolve(attempt.workspace, path);
}
