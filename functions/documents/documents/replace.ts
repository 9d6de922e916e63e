import { openDeps } from "#lib/app/aws.ts";
import { can } from "#lib/documents/requests/can.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { route as update } from "./update.ts";

/** Reference 1.2, PUT documents/{id}/. */
export const route = defineRoute({
  ...update,
  operationId: "replaceDocument",
  method: "PUT",
  summary: "Update the title and excerpt of a document; omitted fields do not change",
  before: can("update"),
});

export const handler = toHandler(route, openDeps);
