import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { eventDetail, getEvent } from "#lib/events/log/get.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "getEvent",
  method: "GET",
  path: "/events/{id}",
  summary: "Get an event with its data and its root cause",
  tag: "Events",
  auth: "required",
  params: z.object({ id: z.string().describe("event_id of the event, also with evt_") }),
  status: 200,
  response: z.object({ data: eventDetail }),
  run: async ({ params }, deps: Deps) => ({ data: await getEvent(deps, params.id) }),
});

export const handler = toHandler(route, openDeps);
