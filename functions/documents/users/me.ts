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
  summary: "The caller",
  tag: "Users",
  auth: "required",
  status: 200,
  response: userRecord,
  run: async ({ request }, deps: Deps) => {
    const user = await requireUser(deps, request);
    // What clients ask first: whoever was invited since they were made comes to have it here.
    await acceptInvitations(deps, user);
    return toUser(user);
  },
});

export const handler = toHandler(route, openDeps);
