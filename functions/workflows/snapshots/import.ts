import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { labelText } from "#lib/events/label-text.ts";
import { toHandler } from "#lib/http/handler.ts";
import { booleanQuery, textQuery } from "#lib/http/page.ts";
import { type BytesBody, defineRoute } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import { archiveIn, importSnapshot, snapshotImportResponse } from "#lib/workflows/snapshots/import.ts";
import { SNAPSHOT_BODY_MAX_BYTES } from "#lib/workflows/snapshots/limits.ts";

/** Shorter than the gateway's timeout, which is 29 seconds on AWS. */
const IMPORT_MAX_MS = 25_000;

/** Reference 1.9, POST /snapshots/import. Choice: infra/decisions/0046. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "importSnapshot",
  method: "POST",
  path: "/snapshots/import",
  summary:
    "Import a workspace from a snapshot: a zip archive, a form with the field file, or a stored snapshot",
  tag: "Snapshots",
  auth: "required",
  query: z.object({
    name: textQuery.describe("Name of a stored snapshot; the request then has no body"),
    workspace: textQuery.pipe(labelText.optional()).describe("Default: the workspace of the snapshot"),
    force: booleanQuery.describe("Whether to replace the files of an existing workspace"),
    skip_db: booleanQuery.describe("Whether to import only files"),
  }),
  body: z.custom<BytesBody>(),
  bodyKind: "bytes",
  bodyTypes: ["application/zip", "multipart/form-data"],
  bodyLimitBytes: SNAPSHOT_BODY_MAX_BYTES,
  memoryMb: 1024,
  status: 200,
  response: snapshotImportResponse,
  errors: [409, 413],
  run: async ({ body, query }, deps: Deps) => {
    const { name, workspace, force = false, skip_db = false } = query;
    const archive = name === undefined ? await archiveIn(body) : { name };
    return importSnapshot(deps, { archive, workspace, force, filesOnly: skip_db, maxMs: IMPORT_MAX_MS });
  },
});

export const handler = toHandler(route, openDeps);
