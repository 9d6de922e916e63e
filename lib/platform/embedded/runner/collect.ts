import { type LaunchedProcess, launchProcess } from "./node-spawner.ts";
import type { ProcessEnd, Processes, ProcessLimits } from "./processes.ts";
import { TOKEN_VARIABLE } from "./protocol.ts";

/** Milliseconds to keep reading from a pipe that a process outside the group holds open. */
const DRAIN_MS = 250;
const STDERR_KEPT_BYTES = 4 * 1024;

export interface CollectRequest extends ProcessLimits {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The program's whole environment, except the token. */
  readonly env: Readonly<Record<string, string>>;
}

/** The output of a program. `overflow`: it was ended because it wrote more than the limit. */
export interface CollectedOutput extends ProcessEnd {
  readonly stdout: string;
  readonly stderr: string;
  readonly overflow: boolean;
}

/**
 * Runs a program and collects its output up to `maxBytes`; of stderr only the beginning. Rejects with PlatformFault
 * `command_not_started`.
 */
export async function collectOutput(
  processes: Processes,
  spec: CollectRequest,
  maxBytes: number,
): Promise<CollectedOutput> {
  const overflow = new AbortController();
  const signal = AbortSignal.any([...(spec.signal === undefined ? [] : [spec.signal]), overflow.signal]);
  const env = { ...spec.env, [TOKEN_VARIABLE]: spec.token };
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  let closed: Promise<unknown> | undefined;
  let pipes: Pick<LaunchedProcess["child"], "stdout" | "stderr"> | undefined;
  const end = await processes.run({ ...spec, signal }, async () => {
    const launched = await launchProcess({ ...spec, env }, ["ignore", "pipe", "pipe"]);
    const { child } = launched;
    closed = new Promise((resolve) => child.once("close", resolve));
    pipes = child;
    let size = 0;
    let errorSize = 0;
    child.stdout?.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) overflow.abort();
      else stdout.push(chunk);
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      if (errorSize < STDERR_KEPT_BYTES) stderr.push(chunk);
      errorSize += chunk.length;
    });
    return launched;
  });
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, DRAIN_MS))]);
  pipes?.stdout?.destroy();
  pipes?.stderr?.destroy();
  return {
    ...end,
    stdout: Buffer.concat(stdout).toString("utf8"),
    stderr: Buffer.concat(stderr).toString("utf8", 0, STDERR_KEPT_BYTES),
    overflow: overflow.signal.aborted,
  };
}
