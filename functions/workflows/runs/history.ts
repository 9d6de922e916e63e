import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { historyRecord, listHistory } from "#lib/workflows/runs/read.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "getRunHistory",
  method: "GET",
  path: "/runs/{id}/history",
  summary: "List the history of a run, oldest first",
  tag: "Runs",
  auth: "required",
  params: z.object({ id: z.string() }),
  status: 200,
  response: z.object({ data: z.array(historyRecord) }),
  run: async ({ params }, deps: Deps) => ({ data: await listHistory(deps, params.id) }),
});

export const handler = toHandler(route, openDeps);
