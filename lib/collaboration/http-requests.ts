import type { RequestBackend } from "./backend.ts";

/** Time for a response, besides the time that the request itself asks to wait, milliseconds. */
const TIMEOUT_MS = 10_000;
/** Longest response: the largest content in base64, bytes. */
const RESPONSE_MAX_BYTES = 64 * 1024 * 1024;

/**
 * Sends requests to the document service over HTTP. `baseUrl` is COLLABORATION_BACKEND_BASE_URL, `timeoutMs` the time for
 * a response.
 */
export function httpRequests(baseUrl: string, timeoutMs = TIMEOUT_MS): RequestBackend {
  const base = baseUrl.replace(/\/+$/, "");
  return async ({ method, path, headers, body, waitMs = 0, signal }) => {
    const timeout = AbortSignal.timeout(timeoutMs + waitMs);
    const response = await fetch(`${base}${path}`, {
      method,
      headers,
      redirect: "error",
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await readText(response);
    return { status: response.status, body: text === "" ? undefined : parse(text) };
  };
}

async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > RESPONSE_MAX_BYTES) throw new RangeError("the response of the document service is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
