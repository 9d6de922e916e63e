import type { CommandOutcome } from "../../platform/commands.ts";
import type { RemoteCommand } from "./machine.ts";
import { OutputFiles } from "./output-files.ts";

/** How long a machine has to kill a command before the connection to it is broken off, milliseconds. */
const KILL_MS = 5_000;

/** A launcher at work on another machine. */
export interface RemoteProcess {
  /** Its exit code, when it has ended and its output was taken whole; rejects where that cannot be known. */
  readonly ended: Promise<number>;
  /** Has it kill its command, and end. */
  kill(): void;
  /** Breaks off the connection; `ended` settles. */
  abandon(): void;
}

/** Starts a launcher. Rejects with StepFailed. */
export type StartProcess = (output: OutputFiles) => Promise<RemoteProcess>;

/** Follows a command to its end, which comes when its time is over or its caller gives up, there too. */
export async function follow(
  { stdoutPath, stderrPath, timeoutMs, signal }: RemoteCommand,
  start: StartProcess,
): Promise<CommandOutcome> {
  const startedAt = performance.now();
  const timeout = AbortSignal.timeout(timeoutMs);
  const output = await OutputFiles.open(stdoutPath, stderrPath);
  let exitCode: number | null;
  try {
    exitCode = await untilEnded(AbortSignal.any([signal, timeout]), () => start(output));
  } catch (error) {
    await output.close();
    throw error;
  }
  const stopped = { timedOut: timeout.aborted && exitCode === null, aborted: signal.aborted };
  const durationMs = performance.now() - startedAt;
  return { exitCode, signal: null, ...stopped, durationMs, ...(await output.close()) };
}

/** Null where it was stopped. */
async function untilEnded(stop: AbortSignal, start: () => Promise<RemoteProcess>): Promise<number | null> {
  if (stop.aborted) return null;
  let late: NodeJS.Timeout | undefined;
  let end = (): void => undefined;
  try {
    const launched = await start();
    end = (): void => {
      launched.kill();
      late = setTimeout(() => launched.abandon(), KILL_MS);
    };
    stop.addEventListener("abort", end, { once: true });
    if (stop.aborted) end();
    const exitCode = await launched.ended;
    return stop.aborted ? null : exitCode;
  } catch (error) {
    if (stop.aborted) return null;
    throw error;
  } finally {
    stop.removeEventListener("abort", end);
    clearTimeout(late);
  }
}
