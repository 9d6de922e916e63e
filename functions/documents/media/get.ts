import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { permissionDenied } from "#lib/documents/access/errors.ts";
import { findReadableAttachment } from "#lib/documents/attachments/media-access.ts";
import { isNotModified } from "#lib/documents/content/conditional-requests.ts";
import {
  downloadUrl,
  isShownInline,
  mediaEtag,
  openAttachment,
  servedType,
} from "#lib/documents/media/read-media.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { mediaService } from "#lib/documents/service.ts";
import { isRangeCurrent, parseRange } from "#lib/http/byte-range.ts";
import { dispositionOf, type FileResponse } from "#lib/http/file-response.ts";
import { toHandler } from "#lib/http/handler.ts";
import { redirect } from "#lib/http/response.ts";
import { defineRoute } from "#lib/http/route.ts";

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** Decides as media-auth, with the same refusal. Choice: infra/decisions/0118. */
export const route = defineRoute({
  service: mediaService,
  operationId: "getMedia",
  method: "GET",
  path: "/{document}/attachments/{file}",
  summary: "Get an attachment, or a range of its bytes",
  tag: "Media",
  auth: "optional",
  params: z.object({ document: z.string(), file: z.string() }),
  // A slow client may read a large file for long.
  timeoutSeconds: 600,
  status: 200,
  response: z.custom<FileResponse>(),
  fileTypes: ["application/octet-stream"],
  errors: [403],
  run: async ({ request }, deps: Deps) => {
    const found = await findReadableAttachment(deps, await resolveViewer(deps, request), request.path);
    if (found === undefined) throw permissionDenied();
    const { key, attachment } = found;
    const { name, bytes, created_at: modifiedAt } = attachment;
    const isInline = isShownInline(attachment);
    const url = await downloadUrl(deps, key, attachment, dispositionOf(name, isInline));
    if (url !== undefined)
      return redirect(302, new URL(url), {
        headers: { "cache-control": "private, max-age=30", "referrer-policy": "no-referrer" },
      });
    const etag = mediaEtag(key);
    const file = { type: servedType(attachment), name, isInline };
    const headers = {
      "accept-ranges": "bytes",
      "cache-control": "private, no-cache",
      etag: `"${etag}"`,
      "last-modified": new Date(modifiedAt).toUTCString(),
    };
    if (isNotModified(request.headers, { etag, saved_at: modifiedAt }))
      return { ...file, status: 304, headers, content: nothing() };
    const asked = isRangeCurrent(request.headers["if-range"], { etag, modifiedAt })
      ? parseRange(request.headers["range"], bytes)
      : undefined;
    if (asked === "unsatisfiable")
      return {
        ...file,
        status: 416,
        headers: { ...headers, "content-range": `bytes */${bytes}`, "content-length": "0" },
        content: nothing(),
      };
    const content = await openAttachment(deps, key, asked);
    if (asked === undefined)
      return { ...file, headers: { ...headers, "content-length": String(bytes) }, content };
    return {
      ...file,
      status: 206,
      headers: {
        ...headers,
        "content-length": String(asked.end - asked.start),
        "content-range": `bytes ${asked.start}-${asked.end - 1}/${bytes}`,
      },
      content,
    };
  },
});

export const handler = toHandler(route, openDeps);
