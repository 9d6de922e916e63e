import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { rootService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: rootService,
  operationId: "getHealth",
  method: "GET",
  path: "/health",
  summary: "Check that the service is up",
  tag: "Health",
  auth: "none",
  status: 200,
  response: z.object({ status: z.literal("ok") }),
  run: (_input, _deps: Deps) => ({ status: "ok" as const }),
});

export const handler = toHandler(route, openDeps);
