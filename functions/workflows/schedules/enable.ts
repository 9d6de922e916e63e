import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { switchSchedule } from "#lib/workflows/schedules/manage.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "enableSchedule",
  method: "POST",
  path: "/schedules/{id}/enable",
  summary: "Enable a schedule",
  tag: "Schedules",
  auth: "required",
  params: z.object({ id: z.string() }),
  status: 200,
  response: z.object({ message: z.string() }),
  errors: [409],
  run: async ({ params }, deps: Deps) => {
    await switchSchedule(deps, params.id, true);
    return { message: "Schedule enabled" };
  },
});

export const handler = toHandler(route, openDeps);
