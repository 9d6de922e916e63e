import type { RemoteUse } from "./machine.ts";

/** Maximum number of earlier attempts that are searched. */
const ATTEMPTS_BACK = 20;

/** The prefix of the tokens of all commands of an attempt. */
export function tokenStart(runId: string, step: string, attempt: number): string {
  return `${runId}/${step.replaceAll(/[\0\r\n]/g, "_")}/${attempt}/`;
}

/** The token prefixes of earlier attempts. */
export function earlierTokens({ runId, step, attempt }: RemoteUse): string[] {
  const from = Math.max(1, attempt - ATTEMPTS_BACK);
  return Array.from({ length: attempt - from }, (_, index) => tokenStart(runId, step, from + index));
}
