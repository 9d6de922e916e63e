import { type Deps, openDeps } from "#lib/deps.ts";
import { toHandler } from "#lib/http/handler.ts";
import { otherMethods } from "#lib/http/other-methods.ts";

/** Reference 1.13. */
export const route = otherMethods<Deps>({
  service: "documents",
  operationId: "refuseUsersMethods",
  path: "/users",
  tag: "Users",
  auth: "token",
  allowed: ["GET"],
});

export const handler = toHandler(route, openDeps);
