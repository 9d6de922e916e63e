import { setTimeout as wait } from "node:timers/promises";
import { parseDuration } from "../lib/durations.ts";
import type { Preferences } from "../lib/workflows/schema/types.ts";
import {
  type Arguments,
  CommandFailure,
  EXIT_CANCELLED,
  type Flag,
  textFlag,
  UsageError,
} from "./command.ts";
import { onInterrupt } from "./interrupts.ts";

/** Between two runs, where nobody says. */
const WAIT_MS = 60_000;

export const REPEAT_FLAGS = {
  repeat: { type: "boolean", summary: "Run it again and again, until one fails or Ctrl-C" },
  "repeat-wait": { type: "string", value: "DURATION", summary: "Between two such runs, as 30s, 5m, 1h (1m)" },
  once: { type: "boolean", summary: "Run it once, whatever the workflow's preferences say" },
} as const satisfies Readonly<Record<string, Flag>>;

/** How long is waited between runs, milliseconds; undefined where there is one run. Throws UsageError. */
export function repetitionOf(args: Arguments, preferences: Preferences): number | undefined {
  const { repeat, once, detach } = args.flags;
  const text = textFlag(args, "repeat-wait");
  const asked = text === undefined ? undefined : parseDuration(text);
  if (text !== undefined && asked === undefined)
    throw new UsageError(`--repeat-wait must be a duration such as 30s, 5m or 1h, not '${text}'.`);
  if (repeat === true && (once === true || detach === true))
    throw new UsageError(`--repeat and --${once === true ? "once" : "detach"} exclude each other.`);
  const isWanted = repeat === true || (preferences.repeat === true && once !== true && detach !== true);
  if (!isWanted) return undefined;
  return asked ?? parseDuration(preferences.repeat_wait_time ?? "") ?? WAIT_MS;
}

/** Waits between two runs. Throws CommandFailure at Ctrl-C. */
export async function rest(milliseconds: number): Promise<void> {
  const asked = new AbortController();
  const undo = onInterrupt(
    () => asked.abort(),
    () => {},
  );
  try {
    await wait(milliseconds, undefined, { signal: asked.signal });
  } catch (error) {
    if (!asked.signal.aborted) throw error;
    throw new CommandFailure("No further run was started.", undefined, EXIT_CANCELLED);
  } finally {
    undo();
  }
}
