import * as z from "zod";
import { type Deps, openDeps } from "#lib/deps.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { getJob, jobRecord } from "#lib/workflows/runs/jobs.ts";

export const route = defineRoute({
  service: "automation",
  operationId: "getJob",
  method: "GET",
  path: "/jobs/{id}",
  summary: "A job: the runs that were asked for together, and how far they are",
  tag: "Runs",
  auth: "token",
  params: z.object({ id: z.string() }),
  status: 200,
  response: jobRecord,
  run: ({ params }, deps: Deps) => getJob(deps, params.id),
});

export const handler = toHandler(route, openDeps);
