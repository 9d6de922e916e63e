import * as z from "zod";
import { type DocumentDeps, openDocumentDeps } from "#lib/app/aws.ts";
import { authorize } from "#lib/documents/authorization/document-access.ts";
import { takeEditLock } from "#lib/documents/connections/edit-lock.ts";
import { Base64Content } from "#lib/documents/content/base64.ts";
import { CONTENT_BODY_MAX_BYTES, contentBody, decodeContent } from "#lib/documents/content/body.ts";
import { saveContent } from "#lib/documents/content/save.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { readLargeJson } from "#lib/http/large-json.ts";
import { defineRoute, type LargeBody } from "#lib/http/route.ts";

/** Seed: documents 4, PATCH documents/{document_id}/content/; reference 1.5. */
export const route = defineRoute({
  service: documentsService,
  operationId: "updateContent",
  method: "PATCH",
  path: "/documents/{id}/content",
  summary: "Save the content of a document, merged with other edits; If-Match prevents lost updates",
  tag: "Content",
  auth: "optional",
  throttle: "document",
  params: documentParams,
  body: z.custom<LargeBody>(),
  bodyKind: "large",
  bodySchema: contentBody,
  bodyLimitBytes: CONTENT_BODY_MAX_BYTES,
  memoryMb: 1024,
  status: 204,
  response: z.void(),
  errors: [403, 412, 413],
  run: async ({ params, body, request }, deps: DocumentDeps) => {
    const viewer = await resolveViewer(deps, request);
    const access = await authorize(deps, viewer, params.id, "content_patch");
    const sent = new Base64Content(body.bytes);
    const write = (text: Uint8Array): void => sent.write(text);
    const { content, websocket } = await readLargeJson(documentsService, contentBody, body, {
      field: "content",
      write,
    });
    await takeEditLock(deps, params.id, request, websocket);
    sent.write(Buffer.from(content));
    await saveContent(deps, access, decodeContent(sent), {
      ifMatch: request.headers["if-match"],
      isConnected: websocket === true,
    });
  },
});

export const handler = toHandler(route, openDocumentDeps);
