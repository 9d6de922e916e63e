import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { wholeNumber } from "#lib/http/page.ts";
import { HttpResponse } from "#lib/http/response.ts";
import { defineRoute } from "#lib/http/route.ts";
import { logRecord, readRunLog } from "#lib/workflows/runs/log.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** Maximum number of lines in one response; together at most 1 MiB. */
const TAIL_MAX = 10_000;

export const route = defineRoute({
  service: workflowsService,
  operationId: "getRunLog",
  method: "GET",
  path: "/runs/{id}/log",
  summary: "Get the log of a run, also while it runs: as text, or as JSON if Accept asks for it",
  tag: "Runs",
  auth: "required",
  params: z.object({ id: z.string() }),
  query: z.object({
    tail: wholeNumber(1)
      .optional()
      .transform((lines) => (lines === undefined ? undefined : Math.min(lines, TAIL_MAX)))
      .meta({ description: "Number of lines at the end to return", type: "integer", minimum: 1 }),
    offset: wholeNumber(0).optional().meta({
      description: "First byte to return: `x-next-offset` of the previous response",
      type: "integer",
    }),
  }),
  status: 200,
  response: logRecord,
  run: async ({ params, query, request }, deps: Deps) => {
    const part = await readRunLog(deps, params.id, query);
    if ((request.headers["accept"] ?? "").includes("application/json")) return part;
    return new HttpResponse(part.log, {
      contentType: "text/plain; charset=utf-8",
      headers: { "x-next-offset": String(part.next_offset), "x-run-status": part.status },
    });
  },
});

export const handler = toHandler(route, openDeps);
