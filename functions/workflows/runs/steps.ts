import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { textQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { listSteps, stepRecord } from "#lib/workflows/runs/read.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "listRunSteps",
  method: "GET",
  path: "/runs/{id}/steps",
  summary: "List the steps of a run in the order in which they started",
  tag: "Runs",
  auth: "required",
  params: z.object({ id: z.string() }),
  query: z.object({
    step: textQuery.describe("Only this step: its name, in a flow `module/step`"),
  }),
  status: 200,
  response: z.object({ data: z.array(stepRecord) }),
  run: async ({ params, query }, deps: Deps) => ({ data: await listSteps(deps, params.id, query.step) }),
});

export const handler = toHandler(route, openDeps);
