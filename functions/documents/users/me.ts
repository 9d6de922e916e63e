import { type Deps, openDeps } from "#lib/app/aws.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { acceptInvitations } from "#lib/documents/sharing/accept-invitations.ts";
import { toUser, userRecord } from "#lib/documents/users/record.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.13, GET users/me/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "getMe",
  method: "GET",
  path: "/users/me",
  summary: "Get the authenticated user",
  tag: "Users",
  auth: "required",
  status: 200,
  response: userRecord,
  run: async ({ request }, deps: Deps) => {
    const user = await requireUser(deps, request);
    // Clients call this first, so it accepts invitations created since the user was.
    await acceptInvitations(deps, user);
    return toUser(user);
  },
});

export const handler = toHandler(route, openDeps);
