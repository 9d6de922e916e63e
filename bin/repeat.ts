import { setTimeout as sleep } from "node:timers/promises";
import { Option } from "commander";
import { parseDuration } from "../lib/durations.ts";
import type { Preferences } from "../lib/workflows/schema/types.ts";
import type { WeftCommand } from "./command.ts";
import { CommandFailure, EXIT_CANCELLED, UsageError } from "./errors.ts";
import { onInterrupt } from "./interrupts.ts";

const DEFAULT_WAIT_MS = 60_000;

export interface RepeatOptions {
  readonly repeat?: boolean;
  readonly repeatWait?: string;
  readonly once?: boolean;
  readonly detach?: boolean;
}

export function addRepeatOptions(command: WeftCommand): WeftCommand {
  return command
    .addOption(
      new Option("--repeat", "Run repeatedly until a run fails or Ctrl-C").conflicts(["once", "detach"]),
    )
    .option("--repeat-wait <duration>", "Time between two runs, such as 30s, 5m or 1h (default: 1m)")
    .option("--once", "Run once, even if the workflow's preferences say otherwise");
}

/** Milliseconds between two runs; undefined if there is only one. Throws UsageError. */
export function repeatInterval(options: RepeatOptions, preferences: Preferences): number | undefined {
  const { repeat, repeatWait, once, detach } = options;
  const wait = repeatWait === undefined ? undefined : parseDuration(repeatWait);
  if (repeatWait !== undefined && wait === undefined)
    throw new UsageError(`--repeat-wait must be a duration such as 30s, 5m or 1h, not '${repeatWait}'.`);
  const isRepeated = repeat === true || (preferences.repeat === true && once !== true && detach !== true);
  if (!isRepeated) return undefined;
  return wait ?? parseDuration(preferences.repeat_wait_time ?? "") ?? DEFAULT_WAIT_MS;
}

/** Waits between two runs. Throws CommandFailure on Ctrl-C. */
export async function waitForNextRun(milliseconds: number): Promise<void> {
  const interrupted = new AbortController();
  const removeHandlers = onInterrupt(
    () => interrupted.abort(),
    () => {},
  );
  try {
    await sleep(milliseconds, undefined, { signal: interrupted.signal });
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    throw new CommandFailure("Interrupted: no further run was started.", undefined, EXIT_CANCELLED);
  } finally {
    removeHandlers();
  }
}
