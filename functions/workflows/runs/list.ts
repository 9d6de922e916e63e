import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { pageQuery, textQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { listRuns, runRecord } from "#lib/workflows/runs/read.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "listRuns",
  method: "GET",
  path: "/runs",
  summary: "List runs, newest first",
  tag: "Runs",
  auth: "required",
  query: z.object({
    status: textQuery,
    workflow: textQuery,
    workflow_name: textQuery.describe("Same as workflow"),
    target: textQuery.describe("Substring of the target"),
    workspace: textQuery,
    run_mode: textQuery.describe("All runs have the mode `local`"),
    job_id: textQuery.describe("Runs of this job"),
    run_group_id: textQuery.describe("Same as job_id"),
    ...pageQuery,
  }),
  status: 200,
  response: runRecord,
  list: true,
  run: async ({ query }, deps: Deps) => {
    const { offset, limit, status, target, workspace, run_mode: mode } = query;
    const page = { offset, limit };
    const workflow = query.workflow ?? query.workflow_name;
    const job = query.job_id ?? query.run_group_id;
    const listing = await listRuns(deps, { status, target, workspace, workflow, job, mode }, page);
    return { listing, pagination: page };
  },
});

export const handler = toHandler(route, openDeps);
