import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { moveBody, moveDocument } from "#lib/documents/records/move.ts";
import { can } from "#lib/documents/requests/can.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Seed: documents 3; reference 1.3, 3.3, POST documents/{id}/move/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "moveDocument",
  method: "POST",
  path: "/documents/{id}/move",
  summary: "Move a document and its descendants below or next to another",
  tag: "Documents",
  auth: "optional",
  throttle: "document",
  params: documentParams,
  body: moveBody,
  status: 200,
  response: z.object({ message: z.string() }),
  errors: [403, 409],
  before: can("move"),
  run: async ({ params, body, request }, deps: Deps) => {
    await moveDocument(deps, await resolveViewer(deps, request), params.id, body);
    return { message: "Document moved successfully." };
  },
});

export const handler = toHandler(route, openDeps);
