import type { StopReason } from "./script-messages.ts";

/** Memory limit of one VM. */
export const MEMORY_LIMIT_BYTES = 64 * 1024 * 1024;

export type StopResult =
  | { readonly ok: true; readonly json: string }
  | { readonly ok: false; readonly reason: StopReason; readonly message: string };

const STOP_MESSAGES = {
  timeout: "the script exceeded its time limit",
  cpu: "the script exceeded its limit of processor time",
  aborted: "the script was cancelled",
  memory: `the script exceeded its memory limit of ${MEMORY_LIMIT_BYTES / 1024 / 1024} MiB`,
  stack: "the script recurses too deeply",
} as const;

/** A verdict with the message for this reason. */
export function stopResult(reason: keyof typeof STOP_MESSAGES): Extract<StopResult, { ok: false }> {
  return { ok: false, reason, message: STOP_MESSAGES[reason] };
}
