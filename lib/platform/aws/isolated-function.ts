import type { Blobs } from "../blobs.ts";
import { PlatformFault } from "../faults.ts";
import type { Log } from "../log.ts";

/** The result of an invocation; `failed` is the function's error. */
export type InvocationResult = { readonly answer: string } | { readonly failed: string };
export type Invoke = (payload: string) => Promise<InvocationResult>;

/** Lambda's error messages for a function that it ended. */
const TIMED_OUT = /timed out/i;
const OUT_OF_MEMORY = /signal: killed|heap out of memory|OutOfMemory/i;

export interface IsolatedCall {
  /** What the function reads, by key. */
  readonly inputs: ReadonlyMap<string, Uint8Array>;
  /** Key of what it writes. */
  readonly output: string;
  /** The payload. */
  readonly request: object;
}

export type IsolatedResult<Response> =
  | { readonly ok: true; readonly value: Uint8Array; readonly response: Response }
  /** `refused`: the function refused the input, `message` says why. Otherwise it exceeded its time or memory limit. */
  | {
      readonly ok: false;
      readonly reason: "refused" | "timeout" | "memory";
      readonly message?: string | undefined;
    };

/**
 * Calls a separate function that parses untrusted content. It can access only the blobs of such calls, whose keys
 * contain secret ids. Throws PlatformFault `unavailable` if it fails for another reason, and `throttled`.
 */
export async function callIsolated<Response extends { readonly ok: boolean; readonly message?: string }>(
  { blobs, log, invoke }: { readonly blobs: Blobs; readonly log: Log; readonly invoke: Invoke },
  { inputs, output, request }: IsolatedCall,
): Promise<IsolatedResult<Extract<Response, { ok: true }>>> {
  try {
    for (const [key, bytes] of inputs) await blobs.put(key, bytes);
    const invoked = await invoke(JSON.stringify(request));
    if ("failed" in invoked) return { ok: false, reason: reasonOf(invoked.failed) };
    const response = JSON.parse(invoked.answer) as Response;
    if (!response.ok) return { ok: false, reason: "refused", message: response.message };
    const value = await blobs.get(output);
    if (value === undefined) throw new PlatformFault("unavailable", "the output of a function is missing");
    return { ok: true, value, response: response as Extract<Response, { ok: true }> };
  } finally {
    // The bucket's lifecycle rule removes what remains.
    await blobs
      .delete([...inputs.keys(), output])
      .catch((error: unknown) => log.warn("removing the blobs of a function's call failed", { error }));
  }
}

function reasonOf(failed: string): "timeout" | "memory" {
  if (TIMED_OUT.test(failed)) return "timeout";
  if (OUT_OF_MEMORY.test(failed)) return "memory";
  throw new PlatformFault("unavailable", `the function failed: ${failed}`);
}
