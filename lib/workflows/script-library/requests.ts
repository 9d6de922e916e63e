import { isIP } from "node:net";
import { isRecord, textOf } from "./argument-values.ts";
import type { FunctionContext, LibraryFunction } from "./library-types.ts";

const group = "http";
const NO_POLICY = { privateAddresses: "deny", loopback: "deny" };

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly error: string;
}

function ask(
  context: FunctionContext,
  url: unknown,
  method: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Answer {
  const answer = context.await("http", {
    url: textOf(url),
    method,
    headers,
    ...(body === "" ? {} : { body }),
    policy: context.network ?? NO_POLICY,
  });
  return { status: 0, headers: {}, body: "", error: "", ...(isRecord(answer) ? answer : {}) };
}

/** In the form that an http step exports. */
function asStep(context: FunctionContext, url: unknown, method: string, body: string) {
  const started = performance.now();
  const headers: Record<string, string> =
    body === ""
      ? {}
      : { "content-type": /^\s*[[{]/.test(body) ? "application/json" : "text/plain; charset=utf-8" };
  const answer = ask(context, url, method, headers, body);
  return {
    status_code: answer.status,
    error: answer.error !== "",
    message: answer.error,
    response_headers: answer.headers,
    response_body: answer.body,
    content_length: Buffer.byteLength(answer.body),
    response_time_ms: Math.round(performance.now() - started),
  };
}

function headersOf(given: unknown): Record<string, string> {
  if (!isRecord(given)) return {};
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, textOf(value)]));
}

/** The host of a URL, or of `host:port` and `host/path`. */
function hostOf(text: string): string {
  const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  return (url?.hostname ?? "").replaceAll(/[[\]]/g, "");
}

export const requestFunctions = {
  http_request: {
    group,
    params: ["url", "method", "headers?", "body?"],
    returns: "object",
    summary:
      "Sends a request and returns {statusCode, body, headers, error}; with the rules of http steps, up to 30 s and 10 MiB",
    example:
      'http_request("https://api.example.com/items", "POST", { authorization: "Bearer x" }, { name: "a" })',
    run: ([url, method, headers, body], context: FunctionContext) => {
      const answer = ask(
        context,
        url,
        textOf(method).toUpperCase() || "GET",
        headersOf(headers),
        textOf(body),
      );
      return { statusCode: answer.status, body: answer.body, headers: answer.headers, error: answer.error };
    },
  },
  http_get: {
    group,
    params: ["url"],
    returns: "object",
    summary:
      "Sends a GET request and returns {status_code, error, message, response_headers, response_body, content_length, response_time_ms}",
    example: 'http_get("https://api.example.com/items").status_code',
    run: ([url], context: FunctionContext) => asStep(context, url, "GET", ""),
  },
  http_post: {
    group,
    params: ["url", "body"],
    returns: "object",
    summary: "Sends a POST request and returns the same as http_get; objects are sent as JSON",
    example: 'http_post("https://api.example.com/items", { name: target })',
    run: ([url, body], context: FunctionContext) => asStep(context, url, "POST", textOf(body)),
  },
  get_ip: {
    group,
    params: ["domain_or_url"],
    returns: "string",
    summary: "The first address of a host, IPv4 if it has one; empty if the host does not exist",
    failure: "",
    run: ([given], context: FunctionContext) => {
      const host = hostOf(textOf(given).trim());
      if (host === "") throw new Error("the host is not valid");
      return isIP(host) === 0 ? context.await("resolve", host) : host;
    },
  },
} satisfies Record<string, LibraryFunction>;
