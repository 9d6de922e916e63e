import { randomUUID } from "node:crypto";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { StepCancelledError, StepFailedError } from "../engine/step-failure.ts";
import { parseTemplate } from "../expressions/parse.ts";
import { renderShell } from "../expressions/render-shell.ts";
import { renderText } from "../expressions/render-text.ts";
import { shellQuote } from "../expressions/shell-quote.ts";
import { allowedPath } from "../remote/allowed-paths.ts";
import type { RemoteMachine, RemoteUse } from "../remote/machine.ts";
import { dockerTarget, environmentOf, sshTarget } from "../remote/target.ts";
import { tokenStart } from "../remote/tokens.ts";
import type { RemoteBashStep, RemoteRunnerConfig } from "../schema/types.ts";
import { remaining, stepEnvironment } from "./attempt-environment.ts";
import {
  COMMAND_TIMEOUT_MS,
  displayValues,
  joined,
  keepingOutput,
  outputPath,
  pathIn,
  resultOf,
} from "./bash.ts";
import type { Attempt, Scope, StepOutput } from "./context.ts";

/** Maximum number of concurrent commands of one step: a host usually allows ten sessions per connection. */
const PARALLEL_MAX = 8;

/**
 * Runs the commands of a remote-bash step in a container or on a host, and fetches a file from it. Template values are
 * shell variables there, never syntax. Throws StepFailedError. Seed: workflow 2.7.
 */
export async function runRemoteBash(
  attempt: Attempt,
  scope: Scope,
  step: RemoteBashStep,
): Promise<StepOutput> {
  const sources = step.parallel_commands ?? step.commands ?? [step.command ?? ""];
  const shown = sources.map((source) => renderText(parseTemplate(source, scope), displayValues(scope)));
  attempt.shown.command = shown.join("\n");
  attempt.shown.logFile = outputPath(attempt, 0, "out");
  const config = renderConfig(step.step_runner_config, scope);
  const env = environmentOf(config);
  const machine = await openMachine(attempt, step, config);
  try {
    const output = await keepingOutput(attempt, scope, step, async () =>
      joined(
        await settleAll(sources, step.parallel_commands === undefined ? 1 : PARALLEL_MAX, (source, index) =>
          runCommand(attempt, scope, machine, { source, index, env }),
        ),
      ),
    );
    await fetchFile(attempt, scope, machine, step, sources.length);
    return { command: attempt.shown.command, output, exports: {}, logFile: attempt.shown.logFile };
  } finally {
    await machine.close();
  }
}

function renderConfig(config: RemoteRunnerConfig, scope: Scope): RemoteRunnerConfig {
  const render = (value: unknown): unknown => {
    if (typeof value === "string") return renderText(parseTemplate(value, scope), scope.values);
    if (Array.isArray(value)) return value.map(render);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, render(inner)]));
  };
  return render(config) as RemoteRunnerConfig;
}

async function openMachine(
  attempt: Attempt,
  { step_runner }: RemoteBashStep,
  config: RemoteRunnerConfig,
): Promise<RemoteMachine> {
  const { deps, run, request, number, signal, workspace } = attempt;
  const { remote } = deps;
  if (remote === undefined) throw new StepFailedError("remote-bash steps require a server or a worker");
  const timeoutMs = remaining(attempt, COMMAND_TIMEOUT_MS);
  const use: RemoteUse = { runId: run.run_id, step: request.key, attempt: number, timeoutMs, signal };
  const { settings } = remote;
  if (step_runner === "docker")
    return remote.docker(await dockerTarget(config, { settings, workspace }), use);
  return remote.ssh(await sshTarget(config, settings), use);
}

interface Command {
  readonly source: string;
  readonly index: number;
  readonly env: Readonly<Record<string, string>>;
}

async function runCommand(
  attempt: Attempt,
  scope: Scope,
  machine: RemoteMachine,
  { source, index, env }: Command,
): Promise<string> {
  // The values are part of the script, so none is too large for an environment variable.
  const shell = renderShell(parseTemplate(source, scope), scope.values, {
    trusted: (root) => scope.trusted.has(root),
    maxEnvBytes: Number.POSITIVE_INFINITY,
    maxTotalBytes: Number.POSITIVE_INFINITY,
  });
  const paths = {
    stdoutPath: outputPath(attempt, index, "out"),
    stderrPath: outputPath(attempt, index, "err"),
  };
  const outcome = await machine.run({
    script: shell.script,
    env: { ...stepEnvironment(attempt), ...env, ...shell.env },
    ...paths,
    ...limitsOf(attempt, index),
  });
  return resultOf(attempt, outcome, paths.stdoutPath, paths.stderrPath);
}

function limitsOf(attempt: Attempt, index: number) {
  const { run, request, number, signal } = attempt;
  return {
    timeoutMs: remaining(attempt, COMMAND_TIMEOUT_MS),
    signal,
    token: `${tokenStart(run.run_id, request.key, number)}${index}`,
  };
}

/**
 * Copies `step_remote_file` to `host_output_file`; the file is replaced completely or stays unchanged. Throws
 * StepFailedError.
 */
async function fetchFile(
  attempt: Attempt,
  scope: Scope,
  machine: RemoteMachine,
  step: RemoteBashStep,
  index: number,
): Promise<void> {
  const { step_remote_file: from, host_output_file: to } = step;
  if (from === undefined || to === undefined) return;
  const path = renderText(parseTemplate(from, scope), scope.values);
  const target = await outputTarget(attempt, renderText(parseTemplate(to, scope), scope.values));
  const part = join(dirname(target), `.${randomUUID()}.part`);
  const stderrPath = outputPath(attempt, index, "err");
  try {
    const outcome = await machine.run({
      script: `cat <${shellQuote(path)}`,
      env: {},
      stdoutPath: part,
      stderrPath,
      ...limitsOf(attempt, index),
    });
    await resultOf(attempt, { ...outcome, stdoutBytes: 0 }, part, stderrPath);
    await rename(part, target);
  } catch (error) {
    if (!(error instanceof StepFailedError)) throw error;
    throw new StepFailedError(`step_remote_file: ${path} could not be copied: ${error.message}`, {
      cause: error,
    });
  } finally {
    await rm(part, { force: true });
  }
}

async function outputTarget(attempt: Attempt, path: string): Promise<string> {
  const { workspace, deps } = attempt;
  const roots = [workspace, ...(deps.remote?.settings.volumeRoots ?? [])];
  const target = await allowedPath(pathIn(attempt, path), roots);
  if (target === undefined || target === (await allowedPath(workspace, [workspace])))
    throw new StepFailedError(
      "host_output_file: must be a file in the run's workspace or in a folder of the setting REMOTE_VOLUME_ROOTS",
    );
  await mkdir(dirname(target), { recursive: true });
  return target;
}

/** Limits concurrency; the first failure ends a sequence, concurrent items all finish. */
async function settleAll<Item, Result>(
  items: readonly Item[],
  width: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let failure: { readonly index: number; readonly reason: unknown } | undefined;
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length && (width > 1 || failure === undefined)) {
      const index = next;
      next += 1;
      try {
        results[index] = await work(items[index] as Item, index);
      } catch (reason) {
        if (reason instanceof StepCancelledError) throw reason;
        if (failure === undefined || index < failure.index) failure = { index, reason };
      }
    }
  };
  const done = await Promise.allSettled(Array.from({ length: Math.min(width, items.length) }, worker));
  for (const one of done) if (one.status === "rejected") throw one.reason;
  if (failure !== undefined) throw failure.reason;
  return results;
}
