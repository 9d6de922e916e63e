import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { diffQuery } from "#lib/workflows/diffs/compute-diff.ts";
import { createDiff, storedDiff } from "#lib/workflows/diffs/stored-diffs.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** Stores the result of GET /assets/diff. Reference 1.6 has only the rows. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "keepAssetDiff",
  method: "POST",
  path: "/assets/diffs",
  summary: "Compare the assets of a workspace at two times, and store the diff",
  tag: "Assets",
  auth: "required",
  body: diffQuery,
  status: 201,
  response: z.object({ data: storedDiff, message: z.string() }),
  run: async ({ body }, deps: Deps) => ({
    data: await createDiff(deps, "assets", body),
    message: "Diff stored",
  }),
});

export const handler = toHandler(route, openDeps);
