import { PlatformFault } from "../faults.ts";
import type { ScriptOutcome, ScriptRequest } from "../scripts.ts";
import { toMessage, toOutcome } from "./script-messages.ts";
import type { ScriptPool } from "./script-pool.ts";

/** Evaluates a script in the threads of this process. Rejects with PlatformFault `unavailable` if no thread starts. */
export async function runInPool(pool: ScriptPool, request: ScriptRequest): Promise<ScriptOutcome> {
  const { signal = new AbortController().signal } = request;
  const reply = await pool.run(toMessage(request), signal, request.callHost).catch((cause: unknown) => {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new PlatformFault("unavailable", detail, { cause });
  });
  return toOutcome(reply);
}
