import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { authenticateRequest } from "#lib/http/auth.ts";
import { STREAM_TIMEOUT_SECONDS } from "#lib/http/event-streams.ts";
import type { FileResponse } from "#lib/http/file-response.ts";
import { toHandler } from "#lib/http/handler.ts";
import { booleanQuery, textQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { EVENT_STREAM } from "#lib/http/server-sent-events.ts";
import { getRun } from "#lib/workflows/runs/read.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import { parseRunPosition, runStream } from "#lib/workflows/streams/run-stream.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "streamRun",
  method: "GET",
  path: "/runs/{id}/stream",
  summary: "Follow a run as server-sent events: its record, its events and its log, until it has finished",
  tag: "Runs",
  auth: "required",
  params: z.object({ id: z.string() }),
  query: z.object({
    after: textQuery.describe(
      "Continue after this id; the header `Last-Event-ID` takes precedence. Without both, the stream begins with the run",
    ),
    log: booleanQuery.describe("Whether the stream contains the log; true by default"),
  }),
  status: 200,
  response: z.custom<FileResponse>(),
  fileTypes: [EVENT_STREAM],
  errors: [429],
  timeoutSeconds: STREAM_TIMEOUT_SECONDS,
  run: async ({ params, query, request }, deps: Deps): Promise<FileResponse> => {
    const resumed = request.headers["last-event-id"];
    const from =
      resumed === undefined
        ? parseRunPosition("query.after", query.after)
        : parseRunPosition("Last-Event-ID", resumed);
    const { run_id: runId } = await getRun(deps, params.id);
    const { limits } = deps.eventStreams;
    return deps.eventStreams.open({
      request,
      check: () => authenticateRequest(route, request, deps),
      produce: (signal) => runStream(deps, { runId, from, withLog: query.log ?? true, limits }, signal),
    });
  },
});

export const handler = toHandler(route, openDeps);
