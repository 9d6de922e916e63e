import { csrfHeaders } from "./csrf.ts";

/** A response that is older is requested again, milliseconds. */
const AGE_MAX_MS = 10_000;

/** A request that a page sends first. One that is not a GET has an empty object as its body. */
export interface EarlyRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
}

export const read = (path: string): EarlyRequest => ({ method: "GET", path });

const responses = new Map<string, Promise<Response>>();
const keyOf = (method: string, url: string): string => `${method} ${url}`;

/** Sends requests whose responses are read once, by `takeEarly`. */
export function requestEarly(requests: readonly EarlyRequest[]): void {
  for (const { method, path } of requests) {
    const response = fetch(path, {
      method,
      headers: { accept: "application/json", "content-type": "application/json", ...csrfHeaders() },
      ...(method === "GET" ? {} : { body: "{}" }),
    }).then(received);
    // Who takes it handles the error.
    response.catch(() => undefined);
    responses.set(keyOf(method, location.origin + path), response);
  }
  setTimeout(discardUnread, AGE_MAX_MS);
}

/** The response with its whole body: browsers pause a long one that nobody reads. */
async function received(response: Response): Promise<Response> {
  return response.status === 200 ? new Response(await response.arrayBuffer(), response) : response;
}

/** An unread response would keep its request open. */
function discardUnread(): void {
  for (const response of responses.values())
    response.then(({ body }) => body?.cancel()).catch(() => undefined);
  responses.clear();
}

/** The response to a request that was sent early. Undefined if it was not sent early, or if its response was used. */
export function takeEarly(method: string, url: string): Promise<Response> | undefined {
  const key = keyOf(method, url);
  const response = responses.get(key);
  responses.delete(key);
  return response;
}
