import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { base64Length, base64Of } from "#lib/documents/content/base64.ts";
import { isNotModified } from "#lib/documents/content/conditional-requests.ts";
import { readContent } from "#lib/documents/content/read.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import type { FileResponse } from "#lib/http/file-response.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

const TYPE = "text/plain; charset=utf-8";

async function* nothing(): AsyncGenerator<string> {}

/** Seed: documents 4, GET documents/{document_id}/content/; reference 1.5. */
export const route = defineRoute({
  service: documentsService,
  operationId: "getContent",
  method: "GET",
  path: "/documents/{id}/content",
  summary: "Get the whole content of a document: a Yjs state as base64, plain text as is",
  tag: "Content",
  auth: "optional",
  throttle: "document",
  params: documentParams,
  status: 200,
  response: z.custom<FileResponse>(),
  fileTypes: ["text/plain"],
  errors: [403],
  run: async ({ params, request }, deps: Deps): Promise<FileResponse> => {
    const content = await readContent(deps, await resolveViewer(deps, request), params.id);
    if (content === undefined)
      return { type: TYPE, headers: { "cache-control": undefined }, content: nothing() };
    const headers = {
      "cache-control": "private, no-cache",
      etag: `"${content.etag}"`,
      "last-modified": new Date(content.saved_at).toUTCString(),
      "x-content-kind": content.kind,
    };
    if (isNotModified(request.headers, content))
      return { status: 304, type: TYPE, headers, content: nothing() };
    const bytes = await content.open();
    const [length, text] =
      content.kind === "yjs" ? [base64Length(content.bytes), base64Of(bytes)] : [content.bytes, bytes];
    return { type: TYPE, headers: { ...headers, "content-length": String(length) }, content: text };
  },
});

export const handler = toHandler(route, openDeps);
