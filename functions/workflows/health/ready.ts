import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { checkReady } from "#lib/workflows/health/ready.ts";
import { rootService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: rootService,
  operationId: "getReadiness",
  method: "GET",
  path: "/health/ready",
  summary: "Whether workflows and triggers are loaded, and tables and queues answer",
  tag: "Health",
  auth: "none",
  status: 200,
  response: z.object({
    status: z.literal("ready"),
    checks: z.object({ tables: z.literal("ok"), queues: z.literal("ok") }),
  }),
  run: (_input, deps: Deps) => checkReady(deps),
});

export const handler = toHandler(route, openDeps);
