import type { Readable } from "node:stream";
import { ApiError } from "../../errors.ts";
import type { Network } from "../../network/network.ts";
import type { DocumentSettings } from "../../settings/document-config.ts";

export interface ProxyDeps {
  readonly documents: Pick<DocumentSettings, "attachments">;
  /** Reaches public addresses only. */
  readonly publicNetwork: Pick<Network, "exchange">;
}

/** An image from elsewhere. */
export interface ProxiedImage {
  /** 200 to 299. */
  readonly status: number;
  readonly type: string;
  /** Throws if there are more bytes than DOCUMENT_IMAGE_MAX_SIZE, or after the time limit. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** For the whole response, milliseconds. */
const TIMEOUT_MS = 10_000;
const URL_MAX_LENGTH = 4000;
const IMAGE = /^image\/[\w.+-]{1,60}$/;

const invalidUrl = (): ApiError =>
  new ApiError("bad_request", "Enter a valid URL.", { body: ["Enter a valid URL."] });
/** One error for whatever goes wrong: it must not describe the network of the server. */
const refused = (): ApiError => new ApiError("bad_request", "Invalid URL used.");

/**
 * Requests an image of another site. The connection is only opened to public addresses, redirects are not followed, and
 * no header of the caller is sent. Throws `bad_request`. Reference 1.7, GET documents/{id}/cors-proxy/.
 */
export async function fetchImage(deps: ProxyDeps, sent: string): Promise<ProxiedImage> {
  const url = parseUrl(sent);
  const { maxBytes } = deps.documents.attachments;
  try {
    const response = await deps.publicNetwork.exchange({
      url,
      method: "GET",
      headers: new Headers({ accept: "image/*" }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { status, headers, body } = response;
    const type = (headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
    const isImage = status >= 200 && status <= 299 && IMAGE.test(type);
    if (!isImage || Number(headers["content-length"] ?? 0) > maxBytes) {
      body.on("error", () => {}).destroy();
      throw refused();
    }
    return { status, type, content: limited(body, maxBytes) };
  } catch {
    throw refused();
  }
}

/** The URL; clients may have encoded it twice. */
function parseUrl(sent: string): URL {
  const text = sent.trim();
  const url = URL.parse(text) ?? URL.parse(decoded(text));
  const isValid = url !== null && text.length <= URL_MAX_LENGTH && /^https?:$/.test(url.protocol);
  if (!isValid || url.username !== "" || url.password !== "") throw invalidUrl();
  return url;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function* limited(body: Readable, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw refused();
      yield chunk;
    }
  } catch {
    throw refused();
  }
}
