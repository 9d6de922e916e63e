import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";

/** What is read from the provider is read again after this time. */
const MAX_AGE_MS = 60 * 60_000;
const RETRY_AFTER_FAILURE_MS = 5_000;

type Deps = Pick<Ports, "clock" | "log">;

/**
 * Caches what is read from the provider. Concurrent callers share one reading; after a failure the next one follows
 * after a pause; a known value stays valid while the provider does not respond.
 */
export class CachedReading<Value> {
  readonly #read: () => Promise<Value>;
  readonly #deps: Deps;
  #known: { readonly value: Value; readonly at: number } | undefined;
  #retryAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(deps: Deps, read: () => Promise<Value>) {
    this.#deps = deps;
    this.#read = read;
  }

  /** Throws `unavailable` if nothing is known and the provider does not respond as expected. */
  async get(): Promise<Value> {
    const now = this.#deps.clock.now();
    const isFresh = this.#known !== undefined && now - this.#known.at < MAX_AGE_MS;
    if (!isFresh && (this.#reading !== undefined || now >= this.#retryAt)) {
      this.#reading ??= this.#update().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    if (this.#known === undefined) throw providerUnavailable();
    return this.#known.value;
  }

  async #update(): Promise<void> {
    const { clock, log } = this.#deps;
    try {
      this.#known = { value: await this.#read(), at: clock.now() };
    } catch (error) {
      this.#retryAt = clock.now() + RETRY_AFTER_FAILURE_MS;
      log.warn("reading the configuration of the OIDC provider failed", { error });
    }
  }
}

export const providerUnavailable = (): ApiError =>
  new ApiError("unavailable", "The identity provider does not respond; try again later", {
    retryAfterSeconds: RETRY_AFTER_FAILURE_MS / 1_000,
  });
