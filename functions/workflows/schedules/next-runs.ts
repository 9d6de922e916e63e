import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { wholeNumber } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { listNextRuns, NEXT_RUNS_MAX, nextRunsResponse } from "#lib/workflows/schedules/next-runs.ts";
import { workflowsService } from "#lib/workflows/service.ts";

const COUNT_DEFAULT = 5;

export const route = defineRoute({
  service: workflowsService,
  operationId: "listNextRuns",
  method: "GET",
  path: "/schedules/{id}/next-runs",
  summary: "List the next times at which a cron schedule fires",
  tag: "Schedules",
  auth: "required",
  params: z.object({ id: z.string() }),
  query: z.object({
    count: wholeNumber(1)
      .optional()
      .transform((value) => Math.min(value ?? COUNT_DEFAULT, NEXT_RUNS_MAX))
      .meta({
        description: `At most ${NEXT_RUNS_MAX}`,
        type: "integer",
        minimum: 1,
        default: COUNT_DEFAULT,
      }),
  }),
  status: 200,
  response: nextRunsResponse,
  run: ({ params, query }, deps: Deps) => listNextRuns(deps, params.id, query.count),
});

export const handler = toHandler(route, openDeps);
