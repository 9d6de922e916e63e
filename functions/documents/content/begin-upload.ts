import { type DocumentDeps, openDocumentDeps } from "#lib/app/aws.ts";
import { beginUpload, uploadBody, uploadRecord } from "#lib/documents/content/upload-urls.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { can } from "#lib/documents/requests/can.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** For content that is too large for a request. Choice: infra/decisions/0062. */
export const route = defineRoute({
  service: documentsService,
  operationId: "beginContentUpload",
  method: "POST",
  path: "/documents/{id}/content-uploads",
  summary: "Get a URL to upload content of up to 20 MiB; the finish call then saves it",
  tag: "Content",
  auth: "optional",
  throttle: "document",
  params: documentParams,
  body: uploadBody,
  status: 201,
  response: uploadRecord,
  errors: [403],
  before: can("content_patch"),
  run: async ({ params, body, request }, deps: DocumentDeps) => {
    const baseUrl = deps.publicUrl ?? new URL(request.address()).origin;
    return beginUpload(deps, await resolveViewer(deps, request), params.id, {
      bytes: body.bytes,
      baseUrl,
      credential: request.principal?.credential,
    });
  },
});

export const handler = toHandler(route, openDocumentDeps);
