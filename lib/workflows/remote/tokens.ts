import type { RemoteUse } from "./machine.ts";

/** Earlier attempts that are looked for. */
const ATTEMPTS_BACK = 20;

/** What the tokens of all commands of an attempt begin with. */
export function tokenStart(runId: string, step: string, attempt: number): string {
  return `${runId}/${step.replaceAll(/[\0\r\n]/g, "_")}/${attempt}/`;
}

/** The same of the attempts before this one. */
export function earlierTokens({ runId, step, attempt }: RemoteUse): string[] {
  const from = Math.max(1, attempt - ATTEMPTS_BACK);
  return Array.from({ length: attempt - from }, (_, index) => tokenStart(runId, step, from + index));
}
