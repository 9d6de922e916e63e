import { type Deps, openDeps } from "#lib/deps.ts";
import { toUser, userRecord } from "#lib/documents/users/record.ts";
import { signedIn } from "#lib/documents/users/viewer.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.13, GET users/me/. */
export const route = defineRoute({
  service: "documents",
  operationId: "getMe",
  method: "GET",
  path: "/users/me",
  summary: "The caller",
  tag: "Users",
  auth: "token",
  status: 200,
  response: userRecord,
  run: async ({ request }, deps: Deps) => toUser(await signedIn(deps, request)),
});

export const handler = toHandler(route, openDeps);
