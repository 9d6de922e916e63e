import { setTimeout as sleep } from "node:timers/promises";
import type { HttpStep } from "../definition/types.ts";
import { variableName } from "../runs/values.ts";
import { parseTemplate } from "../templates/parse.ts";
import { renderHeader, renderText } from "../templates/text.ts";
import { renderUrl } from "../templates/url.ts";
import type { Attempt, Scope, StepOutput } from "./context.ts";
import { StepCancelled, StepFailed } from "./failure.ts";
import { remaining } from "./script.ts";

/** Time of a request where the step has no timeout, milliseconds. */
const REQUEST_TIMEOUT_MS = 30_000;
const RESPONSE_MAX_BYTES = 10 * 1024 * 1024;
const TRIES = 3;
const RETRY_DELAY_MS = 200;
/** Methods that may be sent again without doing their work twice. */
const REPEATABLE: ReadonlySet<string> = new Set(["GET", "HEAD", "PUT", "DELETE", "OPTIONS"]);

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly durationMs: number;
}

/**
 * Sends the request of an http step. An answer below 500 is a success; network errors and 5xx are tried
 * again where the method allows. Throws StepFailed. Seed: workflow 2.7.
 */
export async function runHttp(attempt: Attempt, scope: Scope, step: HttpStep): Promise<StepOutput> {
  const url = checkedUrl(renderUrl(parseTemplate(step.url, scope), scope.values));
  const headers = new Headers();
  for (const [name, value] of Object.entries(step.headers)) {
    headers.set(name, renderHeader(parseTemplate(value, scope), scope.values));
  }
  const body =
    step.request_body === undefined
      ? undefined
      : renderText(parseTemplate(step.request_body, scope), scope.values);
  if (body !== undefined && !headers.has("content-type")) headers.set("content-type", defaultType(body));
  const answer = await sendWithRetries(attempt, { url, method: step.method, headers, body });
  const text = attempt.deps.secrets.redact(answer.body);
  const prefix = variableName(step.name);
  const exports = {
    [`${prefix}_status_code`]: answer.status,
    [`${prefix}_body`]: text,
    [`${prefix}_headers`]: answer.headers,
    [`${prefix}_http_resp`]: {
      status_code: answer.status,
      error: false,
      message: "",
      response_headers: answer.headers,
      response_body: text,
      content_length: Buffer.byteLength(answer.body),
      response_time_ms: answer.durationMs,
    },
  };
  if (answer.status >= 500) throw new StepFailed(`${step.method} ${shownUrl(url)} answered ${answer.status}`);
  return { command: `${step.method} ${shownUrl(url)}`, output: text, exports, logFile: "" };
}

function checkedUrl(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new StepFailed(`url: not a URL: ${text.slice(0, 200)}`);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new StepFailed("url: must be http or https");
  return url;
}

/** Without user name and password. */
function shownUrl(url: URL): string {
  return `${url.origin}${url.pathname}${url.search}`;
}

function defaultType(body: string): string {
  return /^\s*[[{]/.test(body) ? "application/json" : "text/plain; charset=utf-8";
}

interface Sending {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | undefined;
}

async function sendWithRetries(attempt: Attempt, sending: Sending): Promise<Answer> {
  const tries = REPEATABLE.has(sending.method) ? TRIES : 1;
  for (let number = 1; ; number += 1) {
    try {
      const answer = await send(attempt, sending);
      if (answer.status < 500 || number >= tries) return answer;
    } catch (error) {
      if (attempt.signal.aborted) throw new StepCancelled();
      if (!(error instanceof NetworkError) || number >= tries) throw toFailure(error);
    }
    await sleep(RETRY_DELAY_MS * 2 ** (number - 1), undefined, { signal: attempt.signal });
  }
}

class NetworkError extends Error {}

function toFailure(error: unknown): unknown {
  return error instanceof NetworkError ? new StepFailed(error.message) : error;
}

async function send(attempt: Attempt, { url, method, headers, body }: Sending): Promise<Answer> {
  const timeoutMs = remaining(attempt, REQUEST_TIMEOUT_MS);
  const started = performance.now();
  const signal = AbortSignal.any([attempt.signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }), signal });
    const text = await readCapped(response);
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: text,
      durationMs: Math.round(performance.now() - started),
    };
  } catch (error) {
    if (error instanceof StepFailed) throw error;
    if (error instanceof Error && error.name === "TimeoutError") {
      throw new StepFailed(`${method} ${shownUrl(url)} timed out after ${timeoutMs} ms`);
    }
    throw new NetworkError(`${method} ${shownUrl(url)} failed: ${networkReason(error)}`);
  }
}

function networkReason(error: unknown): string {
  const cause = (error as { cause?: { code?: unknown; message?: unknown } }).cause;
  return String(cause?.code ?? cause?.message ?? (error as Error).message);
}

async function readCapped(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > RESPONSE_MAX_BYTES)
      throw new StepFailed(`the answer is larger than ${RESPONSE_MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
