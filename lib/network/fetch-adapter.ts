import { Readable } from "node:stream";
import { RequestError } from "./errors.ts";
import type { Network } from "./network.ts";

/** Statuses of responses without a body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * A `fetch` for libraries: applies the address policy and limits responses to `maxBytes`. A redirect is an error,
 * since credentials are meant for one address.
 */
export function createFetch(
  network: Network,
  options: { readonly maxBytes: number; keepHeader?(name: string): boolean },
): typeof fetch {
  const { maxBytes, keepHeader = () => true } = options;
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const headers = new Headers(init?.headers);
    for (const name of [...headers.keys()]) if (!keepHeader(name)) headers.delete(name);
    const body = init?.body ?? undefined;
    if (body !== undefined && typeof body !== "string") throw new TypeError("the body must be a string");
    const {
      status,
      headers: answered,
      body: stream,
    } = await network.exchange({
      url,
      headers,
      method: init?.method ?? "GET",
      ...(body === undefined ? {} : { body }),
      signal: init?.signal ?? new AbortController().signal,
    });
    if (status >= 300 && status < 400) {
      stream.destroy();
      throw new RequestError(`it returned ${status}, and redirects are not followed`, { passing: false });
    }
    const bodiless = BODILESS.has(status);
    if (bodiless) stream.destroy();
    return new Response(bodiless ? null : bytesOf(capped(stream, maxBytes)), {
      status,
      headers: Object.entries(answered).filter(([name]) => name !== "content-encoding"),
    });
  };
}

async function* capped(stream: Readable, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > maxBytes)
      throw new RequestError(`the response is larger than ${maxBytes} bytes`, { passing: false });
    yield chunk;
  }
}

function bytesOf(chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return Readable.toWeb(Readable.from(chunks, { objectMode: false })) as ReadableStream<Uint8Array>;
}
