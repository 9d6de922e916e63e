import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { deleteSchedule } from "#lib/workflows/schedules/manage.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** Decision on triggers that a workflow declares: infra/decisions/0043. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "deleteSchedule",
  method: "DELETE",
  path: "/schedules/{id}",
  summary: "Delete a schedule",
  tag: "Schedules",
  auth: "required",
  params: z.object({ id: z.string() }),
  status: 200,
  response: z.object({ message: z.string() }),
  errors: [409],
  run: async ({ params }, deps: Deps) => {
    await deleteSchedule(deps, params.id);
    return { message: "Schedule deleted" };
  },
});

export const handler = toHandler(route, openDeps);
