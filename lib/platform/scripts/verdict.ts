import type { StopReason } from "./script-messages.ts";

/** Memory limit of one VM. */
export const MEMORY_LIMIT_BYTES = 64 * 1024 * 1024;

export type Verdict =
  | { readonly ok: true; readonly json: string }
  | { readonly ok: false; readonly reason: StopReason; readonly message: string };

const STOP_MESSAGES = {
  timeout: "the script ran longer than it may",
  cpu: "the script used more processor time than it may",
  aborted: "the script was cancelled",
  memory: `the script needs more memory than the ${MEMORY_LIMIT_BYTES / 1024 / 1024} MiB that it may have`,
  stack: "the script recurses too deeply",
} as const;

/** A verdict with the message for this reason. */
export function stopVerdict(reason: keyof typeof STOP_MESSAGES): Extract<Verdict, { ok: false }> {
  return { ok: false, reason, message: STOP_MESSAGES[reason] };
}
