import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { restoreDocument } from "#lib/documents/records/delete.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Seed: documents 3; reference 1.3, 3.2, POST documents/{id}/restore/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "restoreDocument",
  method: "POST",
  path: "/documents/{id}/restore",
  summary: "Restore a document from the trash",
  tag: "Documents",
  auth: "optional",
  throttle: "document",
  params: documentParams,
  status: 200,
  response: z.object({ detail: z.string() }),
  errors: [403],
  run: async ({ params, request }, deps: Deps) => {
    await restoreDocument(deps, await resolveViewer(deps, request), params.id);
    return { detail: "Document has been successfully restored." };
  },
});

export const handler = toHandler(route, openDeps);
