import { isUtf8 } from "node:buffer";
import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { ContentKind } from "../tables/versions.ts";
import type { Base64Content } from "./base64.ts";
import { isYjsUpdate } from "./yjs-update.ts";

/** Of a request that holds content at its largest: its base64, with slashes escaped, and some more. */
export const CONTENT_BODY_MAX_BYTES = 30 * 1024 * 1024;

/** Body of new content. Seed: documents 4; reference 1.5. */
export const contentBody = z.object({
  content: z
    .string()
    .describe(
      "Base64 of a state of Yjs, or of UTF-8 text; at most 20 MiB without the base64. On AWS a request holds 4 MiB of it: " +
        "larger content is sent by POST documents/{id}/content-uploads",
    ),
  websocket: z.boolean().nullish().describe("Whether the caller is connected with the others who edit"),
});

/** Bytes of content, and what they are. */
export interface Content {
  readonly bytes: Uint8Array;
  readonly kind: ContentKind;
}

export const contentTooLarge = (): ApiError =>
  new ApiError("payload_too_large", "The content is larger than 20 MiB.");

/** What somebody sent as base64. Throws `bad_request`, `payload_too_large`. Reference 1.5. */
export function decodeContent(sent: Base64Content): Content {
  const bytes = sent.end();
  if (bytes === "too_large") throw contentTooLarge();
  if (bytes === "none") {
    const message = "Invalid base64 content.";
    throw new ApiError("bad_request", message, { body: { content: [message] } });
  }
  return parseContent(bytes);
}

/**
 * What bytes are as content. A state of Yjs begins each client's clock at 0, and text holds no byte of 0: so neither is
 * taken for the other, and a damaged state is not stored as text. Throws `bad_request`.
 */
export function parseContent(bytes: Uint8Array): Content {
  if (isUtf8(bytes) && !bytes.includes(0)) return { bytes, kind: "plain" };
  if (isYjsUpdate(bytes)) return { bytes, kind: "yjs" };
  const message = "invalid yjs document";
  throw new ApiError("bad_request", message, { body: message });
}
