import { once } from "node:events";
import type { CommandOutcome } from "../../platform/commands.ts";
import type { RemoteCommand } from "./machine.ts";
import { OutputFiles } from "./output-files.ts";

/** Time for a machine to kill a command before the connection is closed, milliseconds. */
const KILL_MS = 5_000;

/** A launcher running on another machine. */
export interface RemoteProcess {
  /**
   * Resolves to the exit code after the process has ended and its output was read; rejects if the exit code is
   * unknown.
   */
  readonly ended: Promise<number>;
  /** Makes the launcher kill its command and exit. */
  kill(): void;
  /** Closes the connection; `ended` settles. */
  abandon(): void;
}

/** Starts a launcher. Rejects with StepFailedError. */
export type StartProcess = (output: OutputFiles) => Promise<RemoteProcess>;

/** Waits for a command to end; kills it on timeout or abort. */
export async function follow(
  { stdoutPath, stderrPath, timeoutMs, signal }: RemoteCommand,
  start: StartProcess,
): Promise<CommandOutcome> {
  const startedAt = performance.now();
  const stop = new AbortController();
  const giveUp = (): void => stop.abort();
  const timer = setTimeout(giveUp, timeoutMs);
  signal.addEventListener("abort", giveUp, { once: true });
  if (signal.aborted) giveUp();
  const output = await OutputFiles.open(stdoutPath, stderrPath);
  let bytes = { stdoutBytes: 0, stderrBytes: 0 };
  let exitCode: number | null;
  try {
    exitCode = await untilEnded(stop.signal, () => start(output));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", giveUp);
    bytes = await output.close();
  }
  const stopped = { timedOut: exitCode === null && !signal.aborted, aborted: signal.aborted };
  return { exitCode, signal: null, ...stopped, durationMs: performance.now() - startedAt, ...bytes };
}

/** Resolves to the exit code; null if it was stopped. */
async function untilEnded(stop: AbortSignal, start: () => Promise<RemoteProcess>): Promise<number | null> {
  if (stop.aborted) return null;
  const stopped = once(stop, "abort");
  let late: NodeJS.Timeout | undefined;
  try {
    const starting = start();
    const launched = await Promise.race([starting, stopped.then(() => undefined)]);
    if (launched === undefined) {
      // The caller no longer waits for a process that starts after the stop.
      starting.then(
        (process) => process.abandon(),
        () => undefined,
      );
      return null;
    }
    void stopped.then(() => {
      launched.kill();
      late = setTimeout(() => launched.abandon(), KILL_MS);
    });
    const exitCode = await launched.ended;
    return stop.aborted ? null : exitCode;
  } catch (error) {
    if (stop.aborted) return null;
    throw error;
  } finally {
    clearTimeout(late);
  }
}
