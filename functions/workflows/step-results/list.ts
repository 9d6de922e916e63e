import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { pageQuery, textQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { listStepResults, stepRecord } from "#lib/workflows/runs/read.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** Reference 1.6, GET /step-results. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "listStepResults",
  method: "GET",
  path: "/step-results",
  summary: "List finished steps, those of the newest runs first",
  tag: "Runs",
  auth: "required",
  query: z.object({
    workspace: textQuery,
    status: textQuery.describe("completed (or success), failed, skipped, cancelled"),
    step_type: textQuery,
    run_id: textQuery,
    run_uuid: textQuery.describe("Same as run_id"),
    ...pageQuery,
  }),
  status: 200,
  response: stepRecord,
  list: true,
  run: async ({ query }, deps: Deps) => {
    const { offset, limit, run_id, run_uuid, ...filters } = query;
    const page = { offset, limit };
    const listing = await listStepResults(deps, { ...filters, run: run_id ?? run_uuid }, page);
    return { listing, pagination: page };
  },
});

export const handler = toHandler(route, openDeps);
