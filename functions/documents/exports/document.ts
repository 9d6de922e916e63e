import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { exportDocument } from "#lib/documents/exports/export-document.ts";
import { type ExportRecord, startExport } from "#lib/documents/exports/export-jobs.ts";
import { EXPORT_FILE_TYPES, EXPORT_FORMATS } from "#lib/documents/exports/formats.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { requireUser, resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import type { FileResponse } from "#lib/http/file-response.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** The response if a job writes the file. */
const accepted = (job: ExportRecord): FileResponse => ({
  status: 202,
  type: "application/json",
  content: once(Buffer.from(JSON.stringify(job))),
});

/** Whoever may read the content may export it. Choice: infra/decisions/0122. */
export const route = defineRoute({
  service: documentsService,
  operationId: "exportDocument",
  method: "GET",
  path: "/documents/{id}/export",
  summary:
    "Export a document as HTML, Markdown, DOCX, ODT, PDF, blocks or a Yjs state; the response is 202 with an Export if it is large",
  tag: "Exports",
  auth: "optional",
  throttle: "document",
  params: documentParams,
  query: z.object({
    export_format: z.enum(EXPORT_FORMATS).default("html"),
    with_descendants: z
      .enum(["true", "false"])
      .default("false")
      .describe(
        "Whether to export the document with everything below it, as a zip. The response is 202 with an Export",
      ),
    comments: z
      .enum(["true", "false"])
      .default("false")
      .describe("Whether to append the comments; not in json and yjs. The caller must be allowed to comment"),
  }),
  status: 200,
  response: z.custom<FileResponse>(),
  fileTypes: EXPORT_FILE_TYPES,
  timeoutSeconds: 60,
  memoryMb: 1024,
  errors: [403, 429, 503],
  run: async ({ params, query, request }, deps: Deps): Promise<FileResponse> => {
    const baseUrl = deps.publicUrl ?? new URL(request.address()).origin;
    if (query.with_descendants === "true")
      return accepted(
        await startExport(deps, await requireUser(deps, request), { document: params.id, baseUrl }),
      );
    const viewer = await resolveViewer(deps, request);
    const file = { format: query.export_format, hasComments: query.comments === "true" };
    const options = { ...file, baseUrl, skipsLarge: viewer !== undefined };
    const exported = await exportDocument(deps, viewer, params.id, options);
    // Exports belong to users: the document is large only for them.
    if (exported === undefined)
      return accepted(
        await startExport(deps, await requireUser(deps, request), { document: params.id, file, baseUrl }),
      );
    const { name, type, bytes, issues } = exported;
    if (issues.length > 0) deps.log.info("an exported PDF does not conform to PDF/UA-1", { issues });
    return {
      type,
      name,
      headers: { "content-length": String(bytes.length), "cache-control": "private, no-store" },
      content: once(bytes),
    };
  },
});

export const handler = toHandler(route, openDeps);
