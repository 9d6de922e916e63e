import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { labelText } from "#lib/events/label-text.ts";
import { toHandler } from "#lib/http/handler.ts";
import { booleanQuery, textQuery } from "#lib/http/page.ts";
import { type BytesBody, defineRoute } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import { archiveIn, importSnapshot, snapshotImported } from "#lib/workflows/snapshots/import.ts";
import { SNAPSHOT_BODY_MAX_BYTES } from "#lib/workflows/snapshots/limits.ts";

/** Shorter than the gateway's timeout, which is 29 seconds on AWS. */
const IMPORT_MAX_MS = 25_000;

/** Reference 1.9, POST /snapshots/import. Choice: infra/decisions/0046. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "importSnapshot",
  method: "POST",
  path: "/snapshots/import",
  summary: "Bring a workspace back from a snapshot: a zip, a form with it as file, or one that was made here",
  tag: "Snapshots",
  auth: "required",
  query: z.object({
    name: textQuery.describe("Of a snapshot that was made here; the body is left out then"),
    workspace: textQuery
      .pipe(labelText.optional())
      .describe("The one that the snapshot is of where it is not said"),
    force: booleanQuery.describe("Whether the files of a workspace that is there give way"),
    skip_db: booleanQuery.describe("Whether the files alone are taken"),
  }),
  body: z.custom<BytesBody>(),
  bodyKind: "bytes",
  bodyTypes: ["application/zip", "multipart/form-data"],
  bodyLimitBytes: SNAPSHOT_BODY_MAX_BYTES,
  memoryMb: 1024,
  status: 200,
  response: snapshotImported,
  errors: [409, 413],
  run: async ({ body, query }, deps: Deps) => {
    const { name, workspace, force = false, skip_db = false } = query;
    const archive = name === undefined ? await archiveIn(body) : { name };
    return importSnapshot(deps, { archive, workspace, force, filesOnly: skip_db, maxMs: IMPORT_MAX_MS });
  },
});

export const handler = toHandler(route, openDeps);
