import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { createForOwner, requireServerToken } from "#lib/documents/records/create-for-owner.ts";
import { forOwnerBody } from "#lib/documents/records/for-owner-body.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.8, POST documents/create-for-owner/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "createDocumentForOwner",
  method: "POST",
  path: "/documents/create-for-owner",
  summary:
    "Create a document from markdown on behalf of a user; for servers with a token of SERVER_TO_SERVER_API_TOKENS",
  tag: "Documents",
  auth: "none",
  throttle: "document",
  body: forOwnerBody,
  bodyLimitBytes: 4 * 1024 * 1024,
  status: 201,
  response: z.object({ id: z.string() }),
  errors: [401, 503],
  before: async ({ request }, deps: Deps) => requireServerToken(deps, request.headers.authorization),
  run: async ({ body, request }, deps: Deps) => {
    requireServerToken(deps, request.headers.authorization);
    return { id: await createForOwner(deps, body) };
  },
});

export const handler = toHandler(route, openDeps);
