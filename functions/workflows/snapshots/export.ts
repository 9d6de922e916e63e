import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { labelText } from "#lib/events/label-text.ts";
import type { FileResponse } from "#lib/http/file-response.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import { exportSnapshot } from "#lib/workflows/snapshots/export.ts";

/** Reference 1.9, POST /snapshots/export. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "exportSnapshot",
  method: "POST",
  path: "/snapshots/export",
  summary: "Export the files and records of a workspace as a zip archive, and store it as a snapshot",
  tag: "Snapshots",
  auth: "required",
  body: z.object({ workspace: labelText.min(1, "must not be empty").max(1024) }),
  status: 200,
  response: z.custom<FileResponse>(),
  fileTypes: ["application/zip"],
  errors: [413],
  timeoutSeconds: 300,
  memoryMb: 1024,
  run: async ({ body }, deps: Deps) => {
    const { name, size, content } = await exportSnapshot(deps, body.workspace);
    const headers = { "content-length": String(size), "x-snapshot-size": String(size) };
    return { type: "application/zip", name, headers, content };
  },
});

export const handler = toHandler(route, openDeps);
