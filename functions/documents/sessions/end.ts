import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { endSessionOf } from "#lib/documents/login/sessions.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

export const route = defineRoute({
  service: documentsService,
  operationId: "endSession",
  method: "DELETE",
  path: "/users/me/sessions/{id}",
  summary: "End a browser session of the authenticated user, effective immediately",
  tag: "Login",
  auth: "required",
  params: z.object({ id: z.guid().transform((id) => id.toLowerCase()) }),
  status: 204,
  response: z.void(),
  run: async ({ params, request }, deps: Deps) =>
    endSessionOf(deps, await requireUser(deps, request), params.id),
});

export const handler = toHandler(route, openDeps);
