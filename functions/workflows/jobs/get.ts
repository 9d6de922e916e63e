import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { getJob, jobRecord } from "#lib/workflows/runs/jobs.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "getJob",
  method: "GET",
  path: "/jobs/{id}",
  summary: "Get a job, the runs of one request, and its progress",
  tag: "Runs",
  auth: "required",
  params: z.object({ id: z.string() }),
  status: 200,
  response: jobRecord,
  run: ({ params }, deps: Deps) => getJob(deps, params.id),
});

export const handler = toHandler(route, openDeps);
