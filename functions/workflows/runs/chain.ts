import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { readChain, runChain } from "#lib/workflows/chains/run-chain.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "getRunChain",
  method: "GET",
  path: "/runs/{id}/chain",
  summary: "Get what started a run, the runs that it started, and the documents that it wrote",
  tag: "Runs",
  auth: "required",
  params: z.object({ id: z.string() }),
  status: 200,
  response: z.object({ data: runChain }),
  run: async ({ params }, deps: Deps) => ({ data: await readChain(deps, params.id) }),
});

export const handler = toHandler(route, openDeps);
