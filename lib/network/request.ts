import type { Readable } from "node:stream";
import { RequestError, toRequestError } from "./errors.ts";
import type { Network, OpenResponse } from "./network.ts";

/** Maximum number of redirects that a request follows. */
const REDIRECTS_MAX = 10;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Credentials, which are sent only to the host that the author named. */
const CREDENTIALS: ReadonlySet<string> = new Set(["authorization", "cookie", "proxy-authorization"]);

export interface HttpRequest {
  /** http or https; user name and password in it become basic authentication. */
  readonly url: URL;
  /** Upper case. */
  readonly method: string;
  readonly headers: Headers;
  readonly body?: string | undefined;
  /** Time limit including redirects and body, milliseconds. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Whether a text contains a secret: headers and bodies that do are not sent to other hosts, like credentials. */
  isSecret?(text: string): boolean;
}

export interface HttpResult {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The final URL, without user name and password. */
  readonly url: URL;
}

/**
 * Sends a request, follows redirects and reads the response. A redirect to another origin gets no credentials; 303,
 * and 301 or 302 after a POST, continue as GET. Throws RequestError, also if `signal` is aborted.
 */
export async function sendRequest(network: Network, request: HttpRequest): Promise<HttpResult> {
  const { timeoutMs, maxBytes } = request;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([request.signal, timeout]);
  let sent = withBasicAuth(request);
  try {
    for (let hops = 0; ; hops += 1) {
      const answer = await network.exchange({ ...sent, signal });
      const target = redirectOf(answer, sent.url);
      if (target === undefined) {
        const body = await readCapped(answer.body, maxBytes, describeRequest(request));
        return { status: answer.status, headers: answer.headers, body, url: sent.url };
      }
      answer.body.destroy();
      if (hops === REDIRECTS_MAX) throw failed(request, `more than ${REDIRECTS_MAX} redirects`);
      sent = redirected(sent, answer.status, target, request);
    }
  } catch (thrown) {
    if (timeout.aborted && !request.signal.aborted)
      throw new RequestError(`${describeRequest(request)} timed out after ${timeoutMs} ms`, {
        passing: false,
        cause: thrown,
      });
    throw toRequestError(describeRequest(request), thrown);
  }
}

/** A URL without user name and password. */
export function redactUrl(url: URL): string {
  return `${url.origin}${url.pathname}${url.search}`;
}

function describeRequest({ method, url }: Pick<HttpRequest, "method" | "url">): string {
  return `${method} ${redactUrl(url)}`;
}

function failed(request: HttpRequest, reason: string): RequestError {
  return new RequestError(`${describeRequest(request)} failed: ${reason}`, { passing: false });
}

interface Sent {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body?: string;
}

function withBasicAuth({ url, method, headers, body }: HttpRequest): Sent {
  const plain = withoutUser(url);
  const sent = { url: plain, method, ...(body === undefined ? {} : { body }) };
  if ((url.username === "" && url.password === "") || headers.has("authorization"))
    return { ...sent, headers };
  const pair = `${unescaped(url.username)}:${unescaped(url.password)}`;
  const authorized = new Headers(headers);
  authorized.set("authorization", `Basic ${Buffer.from(pair).toString("base64")}`);
  return { ...sent, headers: authorized };
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function withoutUser(url: URL): URL {
  const plain = new URL(url);
  plain.username = "";
  plain.password = "";
  return plain;
}

/** The target of a redirect; undefined for other responses. */
function redirectOf({ status, headers, body }: OpenResponse, from: URL): URL | undefined {
  const location = headers["location"];
  if (!REDIRECTS.has(status) || location === undefined) return undefined;
  const target = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (target !== undefined && /^https?:$/.test(target.protocol)) return withoutUser(target);
  body.destroy();
  throw new RequestError(`${redactUrl(from)} redirects to a URL that is neither http nor https`, {
    passing: false,
  });
}

function redirected(sent: Sent, status: number, url: URL, request: HttpRequest): Sent {
  const { method, body } = sent;
  const becomesGet =
    (status === 303 && method !== "GET" && method !== "HEAD") ||
    ((status === 301 || status === 302) && method === "POST");
  const headers = new Headers();
  const elsewhere = url.origin !== sent.url.origin;
  for (const [name, value] of sent.headers) {
    if (becomesGet && name.startsWith("content-")) continue;
    if (elsewhere && (CREDENTIALS.has(name) || name === "host" || request.isSecret?.(value) === true))
      continue;
    headers.set(name, value);
  }
  if (becomesGet) return { url, method: "GET", headers };
  if (body === undefined) return { url, method, headers };
  if (elsewhere && request.isSecret?.(body) === true)
    throw failed(request, `a redirect would send a secret in the body to ${url.host}`);
  return { url, method, headers, body };
}

async function readCapped(body: Readable, maxBytes: number, what: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > maxBytes)
      throw new RequestError(`${what} failed: the response is larger than ${maxBytes} bytes`, {
        passing: false,
      });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
