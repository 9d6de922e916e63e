import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { accessRecord } from "#lib/documents/sharing/access-record.ts";
import { listAccesses } from "#lib/documents/sharing/accesses.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.9, GET documents/{id}/accesses/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "listAccesses",
  method: "GET",
  path: "/documents/{id}/accesses",
  summary: "List the accesses of a document and its ancestors",
  tag: "Sharing",
  auth: "required",
  throttle: "document_access",
  params: documentParams,
  status: 200,
  response: z.array(accessRecord),
  errors: [403],
  run: async ({ params, request }, deps: Deps) =>
    listAccesses(deps, await requireUser(deps, request), params.id),
});

export const handler = toHandler(route, openDeps);
