import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { readCause } from "#lib/workflows/installation/hop-tokens.ts";
import { triggerResponse, triggerSchedule } from "#lib/workflows/schedules/trigger-schedule.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "triggerSchedule",
  method: "POST",
  path: "/schedules/{id}/trigger",
  summary: "Trigger a schedule now, even if it is disabled",
  tag: "Schedules",
  auth: "required",
  params: z.object({ id: z.string() }),
  status: 202,
  response: triggerResponse,
  errors: [409],
  scripts: true,
  run: async ({ params, request }, deps: Deps) =>
    triggerSchedule(deps, params.id, await readCause(deps, request.headers)),
});

export const handler = toHandler(route, openDeps);
