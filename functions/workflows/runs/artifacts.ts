import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { artifactRecord } from "#lib/workflows/artifacts/list.ts";
import { artifactsOfRun } from "#lib/workflows/runs/artifacts.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** Reference 1.4, GET /runs/:id/artifacts. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "listRunArtifacts",
  method: "GET",
  path: "/runs/{id}/artifacts",
  summary: "List the artifacts of a run, newest first",
  tag: "Artifacts",
  auth: "required",
  params: z.object({ id: z.string() }),
  status: 200,
  response: z.object({ data: z.array(artifactRecord) }),
  run: async ({ params }, deps: Deps) => ({ data: await artifactsOfRun(deps, params.id) }),
});

export const handler = toHandler(route, openDeps);
