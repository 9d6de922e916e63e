import { type Deps, openDeps } from "#lib/deps.ts";
import { toHandler } from "#lib/http/handler.ts";
import { otherMethods } from "#lib/http/other-methods.ts";

/** Reference 1.13. */
export const route = otherMethods<Deps>({
  service: "documents",
  operationId: "refuseUserMethods",
  path: "/users/{id}",
  tag: "Users",
  auth: "token",
  allowed: ["PUT", "PATCH"],
});

export const handler = toHandler(route, openDeps);
