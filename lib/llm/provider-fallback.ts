import { setTimeout as sleep } from "node:timers/promises";
import { LlmError, ProviderCallError } from "./errors.ts";
import type { Provider } from "./providers.ts";

/** Delay before a provider is retried, multiplied by the number of its failures. */
const BACKOFF_MS = 500;
/** A provider that requests a longer delay is not retried. */
const RETRY_AFTER_MAX_MS = 60_000;

interface Rotation {
  /** Maximum number of requests to one provider. */
  readonly tries: number;
  /** Timeout of one request, milliseconds. */
  readonly timeoutMs: number;
  /** Time limit for all requests and waits, milliseconds. */
  readonly budgetMs: number;
  readonly signal: AbortSignal;
}

interface Candidate {
  readonly provider: Provider;
  readonly order: number;
  failures: number;
  /** By `performance.now()`. */
  readyAt: number;
  /** It failed permanently, or has used all attempts. */
  out: boolean;
  last: string;
}

/**
 * Tries the providers until one responds, always the one that is ready first. Throws LlmError with the last error of
 * each, and rethrows errors of `ask` other than ProviderCallError.
 */
export async function tryProviders<Answer>(
  providers: readonly Provider[],
  { tries, timeoutMs, budgetMs, signal }: Rotation,
  ask: (provider: Provider, timeoutMs: number) => Promise<Answer>,
): Promise<Answer> {
  const end = performance.now() + budgetMs;
  const candidates = providers.map(
    (provider, order): Candidate => ({ provider, order, failures: 0, readyAt: 0, out: false, last: "" }),
  );
  for (let next = firstReady(candidates); next !== undefined; next = firstReady(candidates)) {
    const waitMs = Math.max(0, next.readyAt - performance.now());
    if (performance.now() + waitMs >= end) break;
    if (waitMs > 0) await sleep(waitMs, undefined, { signal });
    try {
      return await ask(next.provider, Math.max(1, Math.min(timeoutMs, Math.floor(end - performance.now()))));
    } catch (thrown) {
      if (signal.aborted || !(thrown instanceof ProviderCallError)) throw thrown;
      next.last = thrown.message;
      if (!thrown.elsewhere) break;
      noteFailure(next, thrown, tries);
    }
  }
  if (performance.now() >= end)
    throw new LlmError("failed", `${describeFailures(candidates)} (timed out after ${budgetMs} ms)`);
  throw new LlmError("failed", describeFailures(candidates));
}

function firstReady(candidates: readonly Candidate[]): Candidate | undefined {
  return candidates
    .filter(({ out }) => !out)
    .toSorted((a, b) => a.readyAt - b.readyAt || a.failures - b.failures || a.order - b.order)[0];
}

function noteFailure(
  candidate: Candidate,
  { again, retryAfterMs = 0 }: ProviderCallError,
  tries: number,
): void {
  candidate.failures += 1;
  candidate.readyAt = performance.now() + Math.max(BACKOFF_MS * candidate.failures, retryAfterMs);
  candidate.out = !again || candidate.failures >= tries || retryAfterMs > RETRY_AFTER_MAX_MS;
}

function describeFailures(candidates: readonly Candidate[]): string {
  const failed = candidates.filter(({ last }) => last !== "");
  if (failed.length === 0) return "no provider was called";
  return failed.map(({ provider, last }) => `provider ${provider.name}: ${last}`).join("; ");
}
