import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { ApiError } from "#lib/errors.ts";
import {
  EMIT_EVENTS_MAX,
  emitAll,
  emitBodies,
  emitBody,
  emitEvent,
  emitResponse,
  emitResponses,
} from "#lib/events/emit.ts";
import { toHandler } from "#lib/http/handler.ts";
import { checkBody } from "#lib/http/request.ts";
import { defineRoute } from "#lib/http/route.ts";
import { readCause } from "#lib/workflows/installation/hop-tokens.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** Seed: workflow 4, POST /events/emit; an array of events is Weft's own. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "emitEvent",
  method: "POST",
  path: "/events/emit",
  summary: "Emit an event, or up to 1,000 events at once",
  tag: "Events",
  auth: "required",
  body: z.unknown(),
  bodySchema: z.union([emitBody, emitBodies]),
  status: 200,
  response: z.union([emitResponse, emitResponses]),
  errors: [413],
  scripts: true,
  run: async ({ body, request }, deps: Deps) => {
    if (!Array.isArray(body)) {
      const event = checkBody(workflowsService, emitBody, body);
      return emitEvent(deps, event, await readCause(deps, request.headers));
    }
    // Before the events are validated, which takes long for many.
    if (body.length > EMIT_EVENTS_MAX)
      throw new ApiError("payload_too_large", `body: must have at most ${EMIT_EVENTS_MAX} events`);
    const events = checkBody(workflowsService, emitBodies, body);
    return emitAll(deps, events, await readCause(deps, request.headers));
  },
});

export const handler = toHandler(route, openDeps);
