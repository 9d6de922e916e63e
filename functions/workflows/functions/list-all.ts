import { openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { route as list } from "./list.ts";

/** The path that clients of older engines use. Reference 1.10, GET /functions/list. */
export const route = defineRoute({
  ...list,
  operationId: "listAllFunctions",
  path: "/functions/list",
  summary: "Same as GET /functions",
});

export const handler = toHandler(route, openDeps);
