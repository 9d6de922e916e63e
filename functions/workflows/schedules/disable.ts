import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { switchSchedule } from "#lib/workflows/schedules/manage.ts";
import { route as enable } from "./enable.ts";

export const route = defineRoute({
  ...enable,
  operationId: "disableSchedule",
  path: "/schedules/{id}/disable",
  summary: "Disable a schedule",
  run: async ({ params }, deps: Deps) => {
    await switchSchedule(deps, params.id, false);
    return { message: "Schedule disabled" };
  },
});

export const handler = toHandler(route, openDeps);
