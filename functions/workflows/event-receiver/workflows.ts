import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { listReceiverWorkflows, receiverWorkflows } from "#lib/workflows/event-receiver/receiver.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** Seed: workflow 4, GET /event-receiver/workflows. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "listEventReceiverWorkflows",
  method: "GET",
  path: "/event-receiver/workflows",
  summary: "List the workflows with triggers",
  tag: "Event receiver",
  auth: "required",
  status: 200,
  response: receiverWorkflows,
  run: (_input, deps: Deps) => listReceiverWorkflows(deps),
});

export const handler = toHandler(route, openDeps);
