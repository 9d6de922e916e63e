import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { pageQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { documentRun, listDocumentRuns } from "#lib/workflows/chains/run-chain.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "listDocumentRuns",
  method: "GET",
  path: "/documents/{id}/runs",
  summary: "List the runs that wrote a document or that its events triggered, newest first, at most 1,000",
  tag: "Runs",
  auth: "required",
  params: z.object({ id: z.guid("must be the id of a document") }),
  query: z.object(pageQuery),
  status: 200,
  response: documentRun,
  list: true,
  run: async ({ params, query }, deps: Deps) => ({
    listing: await listDocumentRuns(deps, params.id.toLowerCase(), query),
    pagination: query,
  }),
});

export const handler = toHandler(route, openDeps);
