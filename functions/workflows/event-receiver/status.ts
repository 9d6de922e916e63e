import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { getReceiverStatus, receiverStatus } from "#lib/workflows/event-receiver/receiver.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** Seed: workflow 4, GET /event-receiver/status. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "getEventReceiverStatus",
  method: "GET",
  path: "/event-receiver/status",
  summary: "Get the status of the event receiver",
  tag: "Event receiver",
  auth: "required",
  status: 200,
  response: receiverStatus,
  run: (_input, deps: Deps) => getReceiverStatus(deps),
});

export const handler = toHandler(route, openDeps);
