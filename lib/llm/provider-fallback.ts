import { setTimeout as sleep } from "node:timers/promises";
import { CallFailed, LlmFailed } from "./errors.ts";
import type { Provider } from "./providers.ts";

/** What a provider is left alone for after its first failure; as much longer after each further one. */
const BACKOFF_MS = 500;
/** A provider that asks for a longer rest is not asked again. */
const RETRY_AFTER_MAX_MS = 60_000;

interface Rotation {
  /** Requests to one provider at most. */
  readonly tries: number;
  /** Of one request, milliseconds. */
  readonly timeoutMs: number;
  /** For all of it, waits included, milliseconds. */
  readonly budgetMs: number;
  readonly signal: AbortSignal;
}

interface Candidate {
  readonly provider: Provider;
  readonly order: number;
  failures: number;
  /** By `performance.now()`. */
  readyAt: number;
  /** It said no for good, or has used up its tries. */
  out: boolean;
  last: string;
}

/**
 * Asks one provider after the other, the one that is ready first, until one answers. Throws LlmFailed with
 * what each of them said last, and what `ask` throws where it is no CallFailed.
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
      if (signal.aborted || !(thrown instanceof CallFailed)) throw thrown;
      next.last = thrown.message;
      if (!thrown.elsewhere) break;
      noteFailure(next, thrown, tries);
    }
  }
  if (performance.now() >= end)
    throw new LlmFailed("failed", `${told(candidates)} (timed out after ${budgetMs} ms)`);
  throw new LlmFailed("failed", told(candidates));
}

function firstReady(candidates: readonly Candidate[]): Candidate | undefined {
  return candidates
    .filter(({ out }) => !out)
    .toSorted((a, b) => a.readyAt - b.readyAt || a.failures - b.failures || a.order - b.order)[0];
}

function noteFailure(candidate: Candidate, { again, retryAfterMs = 0 }: CallFailed, tries: number): void {
  candidate.failures += 1;
  candidate.readyAt = performance.now() + Math.max(BACKOFF_MS * candidate.failures, retryAfterMs);
  candidate.out = !again || candidate.failures >= tries || retryAfterMs > RETRY_AFTER_MAX_MS;
}

function told(candidates: readonly Candidate[]): string {
  const said = candidates.filter(({ last }) => last !== "");
  if (said.length === 0) return "no provider was asked";
  return said.map(({ provider, last }) => `provider ${provider.name}: ${last}`).join("; ");
}
