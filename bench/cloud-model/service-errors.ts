import type { VirtualTime } from "./virtual-time.ts";

/** An error as the SDK throws it when a service refuses a request for now. */
export function throttled(name: string, what: string): Error {
  return Object.assign(new Error(`throttled: ${what}`), { name, $metadata: { httpStatusCode: 400 } });
}

/** The SDK repeats these requests itself. */
const REPEATED = new Set(["ThrottlingException", "RequestThrottled"]);
const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 50;

/** Repeats a refused request as the SDK's standard mode does. */
export async function withRetries<Result>(
  time: VirtualTime,
  request: () => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof Error && REPEATED.has(error.name)) || attempt === ATTEMPTS) throw error;
      await time.sleep(Math.random() * FIRST_PAUSE_MS * 2 ** attempt);
    }
  }
}
