import { type Deps, openDeps } from "#lib/app/aws.ts";
import { emitBody, emitEvent, emitResponse } from "#lib/events/emit.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { readCause } from "#lib/workflows/installation/hop-tokens.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** Seed: workflow 4, POST /events/emit. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "emitEvent",
  method: "POST",
  path: "/events/emit",
  summary: "Emit an event",
  tag: "Events",
  auth: "required",
  body: emitBody,
  status: 200,
  response: emitResponse,
  errors: [413],
  scripts: true,
  run: async ({ body, request }, deps: Deps) => emitEvent(deps, body, await readCause(deps, request.headers)),
});

export const handler = toHandler(route, openDeps);
