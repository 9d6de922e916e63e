import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { sessionOfCredential } from "#lib/documents/login/session-authenticator.ts";
import { endSessionsOf } from "#lib/documents/login/sessions.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

export const route = defineRoute({
  service: documentsService,
  operationId: "endOtherSessions",
  method: "DELETE",
  path: "/users/me/sessions",
  summary: "End all browser sessions of the authenticated user except the one of the request",
  tag: "Login",
  auth: "required",
  status: 204,
  response: z.void(),
  run: async ({ request }, deps: Deps) => {
    const user = await requireUser(deps, request);
    const exceptId = sessionOfCredential(request.principal?.credential?.id)?.id;
    await endSessionsOf(deps, user, { exceptId });
  },
});

export const handler = toHandler(route, openDeps);
