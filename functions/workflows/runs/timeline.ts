import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { pageQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { readTimeline, timelineStep } from "#lib/workflows/runs/timeline.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "listRunTimeline",
  method: "GET",
  path: "/runs/{id}/timeline",
  summary: "List when the steps of a run started, waited and ended, without their outputs",
  tag: "Runs",
  auth: "required",
  params: z.object({ id: z.string() }),
  query: z.object(pageQuery),
  status: 200,
  response: timelineStep,
  list: true,
  run: async ({ params, query }, deps: Deps) => ({
    listing: await readTimeline(deps, params.id, query),
    pagination: query,
  }),
});

export const handler = toHandler(route, openDeps);
