import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { getRun, runRecord, toRunRecord } from "#lib/workflows/runs/read.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "getRun",
  method: "GET",
  path: "/runs/{id}",
  summary: "Get a run",
  tag: "Runs",
  auth: "required",
  params: z.object({ id: z.string() }),
  status: 200,
  response: z.object({ data: runRecord }),
  run: async ({ params }, deps: Deps) => ({ data: toRunRecord(await getRun(deps, params.id)) }),
});

export const handler = toHandler(route, openDeps);
