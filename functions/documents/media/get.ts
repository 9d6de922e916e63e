import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { permissionDenied } from "#lib/documents/access/errors.ts";
import { findReadableAttachment } from "#lib/documents/attachments/media-access.ts";
import { isNotModified } from "#lib/documents/content/conditional-requests.ts";
import { downloadUrl, mediaEtag, mediaFile, openAttachment } from "#lib/documents/media/read-media.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { mediaService } from "#lib/documents/service.ts";
import { isRangeCurrent, parseRange } from "#lib/http/byte-range.ts";
import { dispositionOf, type FileResponse, noContent } from "#lib/http/file-response.ts";
import { toHandler } from "#lib/http/handler.ts";
import { redirect } from "#lib/http/response.ts";
import { defineRoute } from "#lib/http/route.ts";

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
    const { bytes, created_at: modifiedAt } = attachment;
    const { headers, ...file } = mediaFile(key, attachment);
    const isHead = request.method === "HEAD";
    // A presigned URL is valid for one method only.
    const url = isHead
      ? undefined
      : await downloadUrl(deps, key, attachment, dispositionOf(file.name, file.isInline));
    if (url !== undefined)
      return redirect(302, new URL(url), {
        headers: { "cache-control": "private, max-age=30", "referrer-policy": "no-referrer" },
      });
    const etag = mediaEtag(key);
    if (isNotModified(request.headers, { etag, saved_at: modifiedAt }))
      return { ...file, status: 304, headers, content: noContent() };
    const whole = { ...file, headers: { ...headers, "content-length": String(bytes) } };
    if (isHead) return { ...whole, content: noContent() };
    const asked = isRangeCurrent(request.headers["if-range"], { etag, modifiedAt })
      ? parseRange(request.headers["range"], bytes)
      : undefined;
    if (asked === "unsatisfiable")
      return {
        ...file,
        status: 416,
        headers: { ...headers, "content-range": `bytes */${bytes}`, "content-length": "0" },
        content: noContent(),
      };
    const content = await openAttachment(deps, key, asked);
    if (asked === undefined) return { ...whole, content };
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
