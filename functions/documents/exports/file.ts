import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { exportNotFound, openExport } from "#lib/documents/exports/export-jobs.ts";
import { EXPORT_FILE_TYPES, ZIP_TYPE } from "#lib/documents/exports/formats.ts";
import { documentsService } from "#lib/documents/service.ts";
import { exportBlob } from "#lib/documents/tables/exports.ts";
import { dispositionOf, type FileResponse } from "#lib/http/file-response.ts";
import { toHandler } from "#lib/http/handler.ts";
import { redirect } from "#lib/http/response.ts";
import { defineRoute } from "#lib/http/route.ts";

const TOKEN_MAX_LENGTH = 100;
/** Validity of the presigned URL. */
const LINK_SECONDS = 60;

/** The link authorizes, until it expires. Choice: infra/decisions/0122. */
export const route = defineRoute({
  service: documentsService,
  operationId: "getExportFile",
  method: "GET",
  path: "/exports/{id}/file",
  summary: "Get the file of an export by its link",
  tag: "Exports",
  auth: "optional",
  params: z.object({ id: z.guid() }),
  query: z.object({ token: z.string().max(TOKEN_MAX_LENGTH) }),
  // A slow client may read a large file for long.
  timeoutSeconds: 600,
  status: 200,
  response: z.custom<FileResponse>(),
  fileTypes: [ZIP_TYPE, ...EXPORT_FILE_TYPES],
  errors: [404],
  run: async ({ params, query }, deps: Deps) => {
    const id = params.id.toLowerCase();
    const { name, type, bytes } = await openExport(deps, id, query.token);
    const cacheControl = "private, no-store";
    const headers = { "cache-control": cacheControl, "referrer-policy": "no-referrer" };
    const url = await deps.blobs.downloadUrl?.(exportBlob(id), {
      seconds: LINK_SECONDS,
      contentType: type,
      contentDisposition: dispositionOf(name),
      cacheControl,
    });
    if (url !== undefined) return redirect(302, new URL(url), { headers });
    const content = await deps.blobs.stream(exportBlob(id));
    if (content === undefined) throw exportNotFound();
    return {
      type,
      name,
      headers: { ...headers, "content-length": String(bytes) },
      content,
    };
  },
});

export const handler = toHandler(route, openDeps);
