import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { pageQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import { listRevisions, REVISIONS_LIMIT_MAX, revisionRecord } from "#lib/workflows/uploads/list-revisions.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "listWorkflowRevisions",
  method: "GET",
  path: "/workflows/{name}/revisions",
  summary: "List the stored revisions of a workflow, newest first",
  tag: "Workflows",
  auth: "required",
  params: z.object({ name: z.string() }),
  query: z.object(pageQuery),
  status: 200,
  response: revisionRecord,
  list: true,
  run: async ({ params, query: { offset, limit } }, deps: Deps) => {
    const page = { offset, limit: Math.min(limit, REVISIONS_LIMIT_MAX) };
    return { listing: await listRevisions(deps, params.name, page), pagination: page };
  },
});

export const handler = toHandler(route, openDeps);
