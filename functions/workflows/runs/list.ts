import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { arrivalOrderingQuery, pageQuery, textQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { optionalTimeQuery } from "#lib/workflows/lists/time-query.ts";
import { collectParams, paramFilters } from "#lib/workflows/runs/param-filters.ts";
import { listRuns, runRecord } from "#lib/workflows/runs/read.ts";
import { SEARCHED_ERROR_MAX_LENGTH } from "#lib/workflows/runs/run-list.ts";
import { workflowsService } from "#lib/workflows/service.ts";

const filters = z
  .object({
    status: textQuery,
    workflow: textQuery,
    workflow_name: textQuery.describe("Same as workflow"),
    target: textQuery.describe("Substring of the target"),
    workspace: textQuery,
    run_mode: textQuery.describe("All runs have the mode `local`"),
    job_id: textQuery.describe("Runs of this job"),
    run_group_id: textQuery.describe("Same as job_id"),
    error: textQuery.describe(
      `Substring of the error's first ${SEARCHED_ERROR_MAX_LENGTH} characters, ignoring case`,
    ),
    started_after: optionalTimeQuery.describe("Runs that started at this time or later"),
    started_before: optionalTimeQuery.describe("Runs that started before this time"),
    param: paramFilters,
    ordering: arrivalOrderingQuery,
    ...pageQuery,
  })
  .refine(
    ({ started_after: after, started_before: before }) =>
      after === undefined || before === undefined || after < before,
    { path: ["started_before"], message: "must be later than started_after" },
  );

export const route = defineRoute({
  service: workflowsService,
  operationId: "listRuns",
  method: "GET",
  path: "/runs",
  summary: "List runs, newest first by default",
  tag: "Runs",
  auth: "required",
  query: z.preprocess(collectParams, filters),
  status: 200,
  response: runRecord,
  list: true,
  run: async ({ query }, deps: Deps) => {
    const { offset, limit, ordering, status, target, workspace, run_mode: mode, error, param } = query;
    const page = { offset, limit, oldestFirst: ordering === "created_at" };
    const listing = await listRuns(
      deps,
      {
        status,
        target,
        workspace,
        mode,
        error,
        workflow: query.workflow ?? query.workflow_name,
        job: query.job_id ?? query.run_group_id,
        startedAfter: query.started_after,
        startedBefore: query.started_before,
        params: param,
      },
      page,
    );
    return { listing, pagination: page };
  },
});

export const handler = toHandler(route, openDeps);
