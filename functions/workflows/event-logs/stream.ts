import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { authenticateRequest } from "#lib/http/auth.ts";
import { STREAM_TIMEOUT_SECONDS } from "#lib/http/event-streams.ts";
import type { FileResponse } from "#lib/http/file-response.ts";
import { toHandler } from "#lib/http/handler.ts";
import { textQuery, wholeNumber } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { EVENT_STREAM } from "#lib/http/server-sent-events.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import { eventStream, LAST_MAX, startPosition } from "#lib/workflows/streams/event-stream.ts";

/** Choice: infra/decisions/0146. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "streamEventLogs",
  method: "GET",
  path: "/event-logs/stream",
  summary: "Follow the event log as server-sent events, in the order of the log",
  tag: "Events",
  auth: "required",
  query: z.object({
    topic: textQuery,
    name: textQuery,
    source: textQuery,
    workspace: textQuery,
    run_id: textQuery,
    run_uuid: textQuery.describe("Same as run_id"),
    workflow_name: textQuery,
    processed: z
      .undefined({ error: "is not available for a stream, which sends events when they are recorded" })
      .optional()
      .describe("Not available: a stream sends events when they are recorded"),
    after: textQuery.describe(
      "Begin after this id; the header `Last-Event-ID` takes precedence. Without both, the stream begins with new events",
    ),
    last: wholeNumber(0)
      .optional()
      .transform((value) => Math.min(value ?? 0, LAST_MAX))
      .meta({
        description: `Begin with this many of the last events, at most ${LAST_MAX}`,
        type: "integer",
        minimum: 0,
        default: 0,
      }),
  }),
  status: 200,
  response: z.custom<FileResponse>(),
  fileTypes: [EVENT_STREAM],
  errors: [429],
  timeoutSeconds: STREAM_TIMEOUT_SECONDS,
  run: async ({ query, request }, deps: Deps): Promise<FileResponse> => {
    const { after, last, run_uuid, run_id, processed: _, ...fields } = query;
    const filters = { ...fields, run_id: run_id ?? run_uuid };
    const start = { lastEventId: request.headers["last-event-id"], after, last };
    const from = await startPosition(deps, filters, start);
    const { limits } = deps.eventStreams;
    return deps.eventStreams.open({
      request,
      check: () => authenticateRequest(route, request, deps),
      produce: (signal) => eventStream(deps, { filters, from, limits }, signal),
    });
  },
});

export const handler = toHandler(route, openDeps);
