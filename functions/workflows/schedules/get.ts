import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { getSchedule } from "#lib/workflows/schedules/manage.ts";
import { scheduleRecord } from "#lib/workflows/schedules/schedule-record.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "getSchedule",
  method: "GET",
  path: "/schedules/{id}",
  summary: "Get a schedule",
  tag: "Schedules",
  auth: "required",
  params: z.object({ id: z.string() }),
  status: 200,
  response: z.object({ data: scheduleRecord }),
  run: async ({ params }, deps: Deps) => ({ data: await getSchedule(deps, params.id) }),
});

export const handler = toHandler(route, openDeps);
