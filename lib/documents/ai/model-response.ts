import { ApiError, type ErrorCode } from "../../errors.ts";
import type { DocumentModelDeps } from "../../llm/document-model.ts";
import { LlmError } from "../../llm/errors.ts";
import type { Log } from "../../platform/log.ts";
import type { Ports } from "../../platform/ports.ts";

/** What AI functions use to call the model. */
export type ModelDeps = DocumentModelDeps & Pick<Ports, "log" | "secrets">;

/** Longer than a request to the model, seconds. */
export const AI_TIMEOUT_SECONDS = 300;

const CODES: Readonly<Record<LlmError["fault"], ErrorCode>> = {
  not_configured: "unavailable",
  invalid: "bad_request",
  failed: "bad_gateway",
  busy: "unavailable",
  timed_out: "gateway_timeout",
  refused: "bad_gateway",
  empty: "bad_gateway",
};

/**
 * The content of a response that a model produces: read once, and the request to the model is aborted when the client
 * disconnects, also while it waits. Errors of the model become `bad_gateway`, `gateway_timeout` and `unavailable`; their
 * cause is logged without secrets.
 */
export function modelResponse(
  { log, secrets }: Pick<ModelDeps, "log" | "secrets">,
  produce: (signal: AbortSignal) => AsyncGenerator<string>,
): AsyncIterableIterator<string> {
  const controller = new AbortController();
  const chunks = produce(controller.signal);
  const end = { done: true, value: undefined } as const;
  return {
    next: async () => {
      try {
        return await chunks.next();
      } catch (thrown) {
        if (controller.signal.aborted) return end;
        throw toModelError(thrown, log, secrets.redact);
      }
    },
    return: async () => {
      controller.abort();
      return end;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

function toModelError(thrown: unknown, log: Log, redact: (text: string) => string): unknown {
  if (!(thrown instanceof LlmError)) return thrown;
  const { fault, message, cause, retryAfterMs } = thrown;
  log.warn("an AI function failed", {
    fault,
    message,
    ...(cause instanceof Error ? { cause: redact(cause.message) } : {}),
  });
  const retry = retryAfterMs === undefined ? {} : { retryAfterSeconds: Math.ceil(retryAfterMs / 1000) };
  return new ApiError(CODES[fault], message, { ...retry, cause: thrown });
}
