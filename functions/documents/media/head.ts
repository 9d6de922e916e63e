import { openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { route as get } from "./get.ts";

/** The local gateway passes HEAD to GET routes; API Gateway needs this route. */
export const route = defineRoute({
  ...get,
  operationId: "headMedia",
  method: "HEAD",
  summary: "Get the headers of an attachment",
});

export const handler = toHandler(route, openDeps);
