import { openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { route as update } from "./update.ts";

/** Reference 1.9, PUT documents/{id}/accesses/{accessId}/. */
export const route = defineRoute({
  ...update,
  operationId: "replaceAccess",
  method: "PUT",
});

export const handler = toHandler(route, openDeps);
