import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { createSchedule } from "#lib/workflows/schedules/manage.ts";
import { createBody } from "#lib/workflows/schedules/schedule-body.ts";
import { scheduleRecord } from "#lib/workflows/schedules/schedule-record.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "createSchedule",
  method: "POST",
  path: "/schedules",
  summary: "Create a schedule: cron, event, watch or manual",
  tag: "Schedules",
  auth: "required",
  body: createBody,
  status: 201,
  response: z.object({ message: z.string(), data: scheduleRecord }),
  errors: [409, 413],
  run: async ({ body }, deps: Deps) => ({
    message: "Schedule created",
    data: await createSchedule(deps, body),
  }),
});

export const handler = toHandler(route, openDeps);
