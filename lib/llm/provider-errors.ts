import { RequestError, toRequestError } from "../network/errors.ts";
import { AddressDeniedError } from "../network/policy.ts";
import { retryAfterMs } from "../network/retry-after.ts";
import { ProviderCallError } from "./errors.ts";

/** Maximum length of a provider's text in an error, characters. */
const TOLD_CHARACTERS = 500;
/** Statuses with which a provider permanently rejects this caller; another provider may accept it. */
const NOT_HERE: ReadonlySet<number> = new Set([401, 402, 403, 404]);
/** Statuses below 500 that are temporary. */
const PASSING: ReadonlySet<number> = new Set([408, 409, 425, 429]);

/** What the client libraries throw for a response with an error status. */
interface StatusError {
  readonly status?: number;
  readonly statusCode?: number;
  readonly headers?: Headers;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly message?: string;
}

/** Converts what a client library throws. The message may contain a provider's text. */
export function toProviderCallError(thrown: unknown): ProviderCallError {
  if (thrown instanceof ProviderCallError) return thrown;
  const refused = [thrown, (thrown as { cause?: unknown }).cause].find(
    (one) => one instanceof RequestError || one instanceof AddressDeniedError,
  );
  if (refused !== undefined) {
    const { message, passing } = toRequestError("the request", refused);
    const tooLarge = message.includes("larger than");
    return new ProviderCallError(message, { again: passing, elsewhere: !tooLarge, cause: thrown });
  }
  const { statusCode, status = statusCode, message = "", ...error } = thrown as StatusError;
  const { headers = new Headers(error.responseHeaders) } = error;
  if (status !== undefined && status >= 400) {
    const again = PASSING.has(status) || status >= 500;
    return new ProviderCallError(message.slice(0, TOLD_CHARACTERS), {
      again,
      status,
      elsewhere: again || NOT_HERE.has(status),
      retryAfterMs: retryAfterMs((name) => headers.get(name), Date.now()),
      cause: thrown,
    });
  }
  if (thrown instanceof SyntaxError)
    return new ProviderCallError("its response is not JSON", { again: true, elsewhere: true, cause: thrown });
  const cause = (thrown as { cause?: unknown }).cause ?? thrown;
  const failed = toRequestError("the request", cause);
  return new ProviderCallError(failed.message.slice(0, TOLD_CHARACTERS), {
    again: failed.passing,
    elsewhere: true,
    cause: thrown,
  });
}
