import { type Deps, openDeps } from "#lib/deps.ts";
import { toHandler } from "#lib/http/handler.ts";
import { otherMethods } from "#lib/http/other-methods.ts";

/** A thread is changed by its comments alone. Reference 1.12. */
export const route = otherMethods<Deps>({
  service: "documents",
  operationId: "otherThreadMethods",
  path: "/documents/{id}/threads/{thread}",
  tag: "Comments",
  auth: "optional",
  allowed: ["GET", "DELETE"],
});

export const handler = toHandler(route, openDeps);
