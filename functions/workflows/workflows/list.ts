import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { orderingQuery, pageQuery, textQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { onePage } from "#lib/workflows/lists/read-list.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import {
  listedHeads,
  toWorkflowRecord,
  WORKFLOW_ORDERINGS,
  workflowRecord,
} from "#lib/workflows/uploads/upload.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "listWorkflows",
  method: "GET",
  path: "/workflows",
  summary: "List workflows, by name by default",
  tag: "Workflows",
  auth: "required",
  query: z.object({
    kind: textQuery,
    tags: textQuery.describe("Tags separated by commas; a workflow has any of them"),
    search: textQuery.describe("Substring of the name or description"),
    ordering: orderingQuery(WORKFLOW_ORDERINGS),
    ...pageQuery,
  }),
  status: 200,
  response: workflowRecord,
  list: true,
  run: async ({ query }, deps: Deps) => {
    const { offset, limit, ...filters } = query;
    const { heads } = await deps.catalog.current();
    const listed = listedHeads(heads, filters);
    const page = listed.slice(offset, offset + limit).map(toWorkflowRecord);
    return { listing: { total: listed.length, items: onePage(page) }, pagination: { offset, limit } };
  },
});

export const handler = toHandler(route, openDeps);
