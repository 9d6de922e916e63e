import { setTimeout as sleep } from "node:timers/promises";
import { RequestError } from "../../network/errors.ts";
import { type HttpRequest, type HttpResult, redactUrl, sendRequest } from "../../network/request.ts";
import { retryAfterMs } from "../../network/retry-after.ts";
import { StepCancelledError, StepFailedError } from "../engine/step-failure.ts";
import { parseTemplate } from "../expressions/parse.ts";
import { renderHeader, renderText } from "../expressions/render-text.ts";
import { renderUrl } from "../expressions/render-url.ts";
import { variableName } from "../expressions/variable-names.ts";
import { HTTP_METHOD } from "../schema/limits.ts";
import type { HttpStep } from "../schema/types.ts";
import { remaining, timeFor } from "./attempt-environment.ts";
import type { Attempt, Scope, StepOutput } from "./context.ts";

/** Timeout of a request if the step has none, milliseconds. */
const REQUEST_TIMEOUT_MS = 30_000;

const RESPONSE_MAX_BYTES = 10 * 1024 * 1024;

const TRIES = 3;

const RETRY_DELAY_MS = 200;

/** Longest `Retry-After` that is honoured, milliseconds. */
const RETRY_AFTER_MAX_MS = 10_000;

/**
 * Sends the request of an http step. A status below 500 is a success; after a network error or a 5xx status the request
 * and its body are sent again, whatever the method. The response is exported in either case. Throws StepFailedError. Seed:
 * workflow 2.7, reference 2.5.
 */
export async function runHttp(attempt: Attempt, scope: Scope, step: HttpStep): Promise<StepOutput> {
  const url = checkedUrl(renderUrl(parseTemplate(step.url, scope), scope.values));
  const headers = renderHeaders(step, scope);
  const body =
    step.request_body === undefined
      ? undefined
      : renderText(parseTemplate(step.request_body, scope), scope.values);
  if (body !== undefined && !headers.has("content-type")) headers.set("content-type", defaultType(body));
  const method = renderMethod(step, scope);
  const shown = `${method} ${redactUrl(url)}`;
  attempt.shown.command = shown;
  const started = performance.now();
  try {
    // A `retry` of the step replaces the retries of the request.
    const tries = step.retry === undefined ? TRIES : 1;
    const answer = await sendWithRetries(attempt, { url, method, headers, body }, tries);
    const text = attempt.deps.secrets.redact(answer.body.toString("utf8"));
    const exports = exportsOf(step, { answer, text, message: "", durationMs: since(started) });
    if (answer.status < 500) return { command: shown, output: text, exports, logFile: "" };
    const message = `${shown} answered ${answer.status}`;
    const failed = exportsOf(step, { answer, text, message, durationMs: since(started) });
    throw new StepFailedError(message, { exports: failed });
  } catch (thrown) {
    if (!(thrown instanceof RequestError)) throw thrown;
    const message = attempt.deps.secrets.redact(thrown.message);
    const failed = exportsOf(step, { text: "", message, durationMs: since(started) });
    throw new StepFailedError(message, { cause: thrown, exports: failed });
  }
}

function since(started: number): number {
  return Math.round(performance.now() - started);
}

function checkedUrl(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new StepFailedError(`url: not a URL: ${text.slice(0, 200)}`);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new StepFailedError("url: must be http or https");
  return url;
}

/** An empty value means GET, like a missing `method`. */
function renderMethod({ method }: HttpStep, scope: Scope): string {
  const text = renderText(parseTemplate(method, scope), scope.values).trim().toUpperCase() || "GET";
  if (!HTTP_METHOD.test(text)) throw new StepFailedError(`method: not an HTTP method: ${text.slice(0, 50)}`);
  return text;
}

function renderHeaders(step: HttpStep, scope: Scope): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(step.headers)) {
    const text = renderHeader(parseTemplate(value, scope), scope.values);
    try {
      headers.set(name, text);
    } catch {
      throw new StepFailedError(`headers: the value of ${name} has invalid characters`);
    }
  }
  return headers;
}

function defaultType(body: string): string {
  return /^\s*[[{]/.test(body) ? "application/json" : "text/plain; charset=utf-8";
}

interface Outcome {
  /** Undefined without a response. */
  readonly answer?: HttpResult;
  readonly text: string;
  /** The error; empty if there is none. */
  readonly message: string;
  readonly durationMs: number;
}

function exportsOf({ name }: HttpStep, { answer, text, message, durationMs }: Outcome) {
  const prefix = variableName(name);
  const status = answer?.status ?? 0;
  const headers = answer?.headers ?? {};
  return {
    [`${prefix}_status_code`]: status,
    [`${prefix}_body`]: text,
    [`${prefix}_headers`]: headers,
    [`${prefix}_http_resp`]: {
      status_code: status,
      error: message !== "",
      message,
      response_headers: headers,
      response_body: text,
      content_length: answer?.body.length ?? 0,
      response_time_ms: durationMs,
    },
  };
}

type Sending = Pick<HttpRequest, "url" | "method" | "headers" | "body">;

async function sendWithRetries(attempt: Attempt, sending: Sending, tries: number): Promise<HttpResult> {
  for (let number = 1; ; number += 1) {
    let waitMs = RETRY_DELAY_MS * 2 ** (number - 1);
    try {
      const answer = await send(attempt, sending);
      if (answer.status < 500 || number >= tries) return answer;
      waitMs = Math.max(waitMs, retryAfterMs((name) => answer.headers[name], Date.now()) ?? 0);
      // If the server asks for a longer wait than allowed, this response is final.
      if (waitMs > remaining(attempt, RETRY_AFTER_MAX_MS)) return answer;
    } catch (error) {
      if (attempt.signal.aborted) throw new StepCancelledError();
      if (!(error instanceof RequestError && error.passing) || number >= tries) throw error;
    }
    await sleep(waitMs, undefined, { signal: attempt.signal });
  }
}

function send(attempt: Attempt, sending: Sending): Promise<HttpResult> {
  const { secrets, network } = attempt.deps;
  return sendRequest(network, {
    ...sending,
    timeoutMs: timeFor(attempt, REQUEST_TIMEOUT_MS),
    maxBytes: RESPONSE_MAX_BYTES,
    signal: attempt.signal,
    isSecret: (value) => secrets.redact(value) !== value,
  });
}
