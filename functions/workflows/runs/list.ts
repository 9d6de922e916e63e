import * as z from "zod";
import { type Deps, openDeps } from "#lib/deps.ts";
import { toHandler } from "#lib/http/handler.ts";
import { pageQuery, textQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { listRuns, runRecord } from "#lib/workflow/runs/read.ts";

export const route = defineRoute({
  service: "automation",
  operationId: "listRuns",
  method: "GET",
  path: "/runs",
  summary: "List runs, newest first",
  tag: "Runs",
  auth: "token",
  query: z.object({
    status: textQuery,
    workflow: textQuery,
    workflow_name: textQuery.describe("The same as workflow"),
    target: textQuery.describe("Part of the target"),
    workspace: textQuery,
    ...pageQuery,
  }),
  status: 200,
  response: runRecord,
  list: true,
  run: async ({ query }, deps: Deps) => {
    const { offset, limit, workflow, workflow_name, ...filters } = query;
    const page = { offset, limit };
    const listing = await listRuns(deps, { ...filters, workflow: workflow ?? workflow_name }, page);
    return { listing, pagination: page };
  },
});

export const handler = toHandler(route, openDeps);
