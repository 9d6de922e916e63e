import { type Deps, openDeps } from "#lib/app/aws.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { can } from "#lib/documents/requests/can.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { accessRecord } from "#lib/documents/sharing/access-record.ts";
import { createAccess } from "#lib/documents/sharing/accesses.ts";
import { accessBody } from "#lib/documents/sharing/body.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.9, POST documents/{id}/accesses/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "createAccess",
  method: "POST",
  path: "/documents/{id}/accesses",
  summary: "Grant a user or team a role on a document; the user gets an email",
  tag: "Sharing",
  auth: "required",
  throttle: "document_access",
  params: documentParams,
  body: accessBody,
  status: 201,
  response: accessRecord,
  errors: [403],
  before: can("accesses_manage"),
  run: async ({ params, body, request }, deps: Deps) =>
    createAccess(deps, await requireUser(deps, request), params.id, body),
});

export const handler = toHandler(route, openDeps);
