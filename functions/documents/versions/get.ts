import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { base64Of } from "#lib/documents/content/base64.ts";
import { readVersion, versionIdParam } from "#lib/documents/content/versions.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import type { FileResponse } from "#lib/http/file-response.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Streams the JSON, because the content may be large. */
async function* record(
  content: AsyncIterable<Uint8Array>,
  more: Readonly<Record<string, string>>,
): AsyncGenerator<string> {
  yield '{"content":"';
  yield* base64Of(content);
  yield `",${JSON.stringify(more).slice(1)}`;
}

/** Reference 1.7, GET documents/{id}/versions/{version_id}/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "getVersion",
  method: "GET",
  path: "/documents/{id}/versions/{versionId}",
  summary: "Get a version of a document's content as base64, with its id and time",
  tag: "Content",
  auth: "optional",
  throttle: "document",
  params: documentParams.extend({ versionId: versionIdParam }),
  status: 200,
  response: z.custom<FileResponse>(),
  fileTypes: ["application/json"],
  errors: [403],
  run: async ({ params, request }, deps: Deps): Promise<FileResponse> => {
    const viewer = await resolveViewer(deps, request);
    const { version, bytes } = await readVersion(deps, viewer, params.id, params.versionId);
    const { sk: id, last_modified } = version;
    return { type: "application/json; charset=utf-8", content: record(bytes, { last_modified, id }) };
  },
});

export const handler = toHandler(route, openDeps);
