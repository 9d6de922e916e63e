import { type Deps, openDeps } from "#lib/app/aws.ts";
import { createBody } from "#lib/documents/records/body.ts";
import { createDocument } from "#lib/documents/records/create.ts";
import { documentRecord, toDocument } from "#lib/documents/records/record.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.2, POST documents/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "createDocument",
  method: "POST",
  path: "/documents",
  summary: "Create a document owned by the caller",
  tag: "Documents",
  auth: "required",
  throttle: "document",
  body: createBody,
  status: 201,
  response: documentRecord,
  run: async ({ body, request }, deps: Deps) =>
    toDocument(await createDocument(deps, await requireUser(deps, request), body)),
});

export const handler = toHandler(route, openDeps);
