import { type Deps, openDeps } from "#lib/app/aws.ts";
import { authorize } from "#lib/documents/authorization/document-access.ts";
import { takeEditLock } from "#lib/documents/connections/edit-lock.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { updateBody } from "#lib/documents/records/body.ts";
import { documentRecord, toDocument } from "#lib/documents/records/record.ts";
import { updateDocument } from "#lib/documents/records/update.ts";
import { can } from "#lib/documents/requests/can.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.2, PATCH documents/{id}/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "updateDocument",
  method: "PATCH",
  path: "/documents/{id}",
  summary: "Update the title or excerpt of a document; omitted fields do not change",
  tag: "Documents",
  auth: "optional",
  throttle: "document",
  params: documentParams,
  body: updateBody,
  status: 200,
  response: documentRecord,
  errors: [403],
  before: can("partial_update"),
  run: async ({ params, body, request }, deps: Deps) => {
    const viewer = await resolveViewer(deps, request);
    await authorize(deps, viewer, params.id, "partial_update");
    await takeEditLock(deps, params.id, request, body.websocket);
    return toDocument(await updateDocument(deps, viewer, params.id, body));
  },
});

export const handler = toHandler(route, openDeps);
