import { isUtf8 } from "node:buffer";
import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { Content } from "../updates/read-log.ts";
import { isYjsUpdate } from "../updates/yjs-update.ts";
import type { Base64Content } from "./base64.ts";

/** Maximum request size: the largest content in base64 with escaped slashes, and other fields. */
export const CONTENT_BODY_MAX_BYTES = 30 * 1024 * 1024;

/** Body of a content update. Seed: documents 4; reference 1.5. */
export const contentBody = z.object({
  content: z
    .string()
    .describe(
      "Base64 of a Yjs state or of UTF-8 text; at most 20 MiB decoded. On AWS a request is limited to 4 MiB: " +
        "upload larger content with POST documents/{id}/content-uploads",
    ),
  websocket: z.boolean().nullish().describe("Whether the caller is connected to the collaboration server"),
});

export type { Content };

export const contentTooLarge = (): ApiError =>
  new ApiError("payload_too_large", "The content is larger than 20 MiB.");

/** Returns the decoded content of a request. Throws `bad_request`, `payload_too_large`. Reference 1.5. */
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
 * Detects the kind of content. A Yjs state contains zero bytes and text contains none, so a damaged state is not
 * stored as text. Throws `bad_request`.
 */
export function parseContent(bytes: Uint8Array): Content {
  if (isUtf8(bytes) && !bytes.includes(0)) return { bytes, kind: "plain" };
  if (isYjsUpdate(bytes)) return { bytes, kind: "yjs" };
  const message = "invalid yjs document";
  throw new ApiError("bad_request", message, { body: message });
}
