import { type Deps, openDeps } from "#lib/app/aws.ts";
import { configRecord, shownConfig } from "#lib/documents/configuration/record.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.14, GET config/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "getConfig",
  method: "GET",
  path: "/config",
  summary: "Get the public configuration",
  tag: "Configuration",
  auth: "none",
  throttle: "config",
  status: 200,
  response: configRecord,
  run: (_input, deps: Deps) => shownConfig(deps),
});

export const handler = toHandler(route, openDeps);
