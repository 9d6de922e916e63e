import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { updateSchedule } from "#lib/workflows/schedules/manage.ts";
import { updateBody } from "#lib/workflows/schedules/schedule-body.ts";
import { scheduleRecord } from "#lib/workflows/schedules/schedule-record.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "updateSchedule",
  method: "PUT",
  path: "/schedules/{id}",
  summary: "Update a schedule; omitted fields do not change",
  tag: "Schedules",
  auth: "required",
  params: z.object({ id: z.string() }),
  body: updateBody,
  status: 200,
  response: z.object({ message: z.string(), data: scheduleRecord }),
  errors: [409, 413],
  run: async ({ params, body }, deps: Deps) => ({
    message: "Schedule updated",
    data: await updateSchedule(deps, params.id, body),
  }),
});

export const handler = toHandler(route, openDeps);
