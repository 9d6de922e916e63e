import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import type { FileResponse } from "#lib/http/file-response.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { openArtifact } from "#lib/workflows/artifacts/open-artifact.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** Reference 1.6, GET /artifacts/:workspace_name. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "downloadArtifact",
  method: "GET",
  path: "/artifacts/{workspace}",
  summary: "Download a file of a workspace",
  tag: "Artifacts",
  auth: "required",
  params: z.object({ workspace: z.string().max(1024) }),
  query: z.object({
    artifact_path: z
      .string("is required")
      .min(1, "is required")
      .max(1024)
      .describe("Path relative to the workspace"),
  }),
  status: 200,
  response: z.custom<FileResponse>(),
  fileTypes: ["application/octet-stream"],
  run: async ({ params, query }, deps: Deps) => {
    const { size, content } = await openArtifact(deps, params.workspace, query.artifact_path);
    return {
      type: "application/octet-stream",
      name: query.artifact_path.split("/").at(-1) ?? "",
      headers: { "content-length": String(size) },
      content,
    };
  },
});

export const handler = toHandler(route, openDeps);
