import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { sessionRecord, toSessionRecord } from "#lib/documents/login/session-record.ts";
import { listSessions } from "#lib/documents/login/sessions.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

export const route = defineRoute({
  service: documentsService,
  operationId: "listSessions",
  method: "GET",
  path: "/users/me/sessions",
  summary: "List the browser sessions of the authenticated user, the most recently used first",
  tag: "Login",
  auth: "required",
  status: 200,
  response: z.array(sessionRecord),
  run: async ({ request }, deps: Deps) => {
    const user = await requireUser(deps, request);
    const sessions = await listSessions(deps, user.id);
    return sessions.map((session) => toSessionRecord(session, request.principal?.credential));
  },
});

export const handler = toHandler(route, openDeps);
