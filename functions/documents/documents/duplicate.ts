import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { copyContent } from "#lib/documents/content/copy.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { negotiateLanguage } from "#lib/documents/records/copy-title.ts";
import { duplicateBody, duplicateDocument } from "#lib/documents/records/duplicate.ts";
import { can } from "#lib/documents/requests/can.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.3, 3.4, POST documents/{id}/duplicate/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "duplicateDocument",
  method: "POST",
  path: "/documents/{id}/duplicate",
  summary: "Copy a document, optionally with its descendants and accesses",
  tag: "Documents",
  auth: "required",
  throttle: "document",
  params: documentParams,
  body: duplicateBody,
  status: 201,
  response: z.object({ id: z.string().describe("Id of the copy") }),
  errors: [403, 409],
  before: can("duplicate"),
  run: async ({ params, body, request }, deps: Deps) => {
    const user = await requireUser(deps, request);
    const id = await duplicateDocument(deps, user, params.id, {
      withAccesses: body.with_accesses,
      withDescendants: body.with_descendants,
      language: negotiateLanguage(request.headers["accept-language"], user.language),
      copyContent: (from, to) => copyContent(deps, from, to),
    });
    return { id };
  },
});

export const handler = toHandler(route, openDeps);
