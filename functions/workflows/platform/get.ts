import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { platformOverview, readPlatform } from "#lib/workflows/overview/platform.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "getPlatform",
  method: "GET",
  path: "/platform",
  summary: "Get the state of the installation: functions, queues, rules, tables, limits, settings and health",
  tag: "Health",
  auth: "required",
  callers: ["owner"],
  status: 200,
  response: z.object({ data: platformOverview }),
  run: async (_input, deps: Deps) => ({ data: await readPlatform(deps) }),
});

export const handler = toHandler(route, openDeps);
