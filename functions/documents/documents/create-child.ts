import { type Deps, openDeps } from "#lib/app/aws.ts";
import { authorize } from "#lib/documents/authorization/document-access.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { createChild } from "#lib/documents/records/create.ts";
import { can } from "#lib/documents/requests/can.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { createOrImport, creation } from "./create.ts";

/** Reference 1.3, POST documents/{id}/children/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "createChild",
  method: "POST",
  path: "/documents/{id}/children",
  summary: "Create a last child of a document, or import it from a file; access is inherited",
  tag: "Documents",
  auth: "required",
  throttle: "document",
  params: documentParams,
  ...creation,
  errors: [403],
  before: can("children_create"),
  run: async ({ params, body, request }, deps: Deps) => {
    const user = await requireUser(deps, request);
    const parent = await authorize(deps, user, params.id, "children_create");
    return createOrImport(deps, user, body, params.id, (checked) => createChild(deps, user, parent, checked));
  },
});

export const handler = toHandler(route, openDeps);
