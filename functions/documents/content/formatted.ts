import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { formatContent } from "#lib/documents/content/formatted.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import type { FileResponse } from "#lib/http/file-response.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

const FORMAT_MAX_LENGTH = 100;

async function* parts(content: string, more: Readonly<Record<string, unknown>>): AsyncGenerator<string> {
  yield '{"content":';
  yield content;
  yield `,${JSON.stringify(more).slice(1)}`;
}

/** Seed: documents 4, GET documents/{document_id}/formatted-content/; reference 1.5. */
export const route = defineRoute({
  service: documentsService,
  operationId: "getFormattedContent",
  method: "GET",
  path: "/documents/{id}/formatted-content",
  summary: "Get a document with its content as blocks, markdown or HTML",
  tag: "Content",
  auth: "optional",
  throttle: "document",
  params: documentParams,
  query: z.object({
    content_format: z
      .string()
      .max(FORMAT_MAX_LENGTH)
      .default("json")
      .describe("json, markdown or html, case-insensitive"),
  }),
  status: 200,
  response: z.custom<FileResponse>(),
  fileTypes: ["application/json"],
  timeoutSeconds: 60,
  errors: [403, 429, 503],
  run: async ({ params, query, request }, deps: Deps): Promise<FileResponse> => {
    const viewer = await resolveViewer(deps, request);
    const { document, content } = await formatContent(deps, viewer, params.id, query.content_format);
    const { id, title, created_at, updated_at } = document;
    const more = { id, title, created_at, updated_at };
    return { type: "application/json; charset=utf-8", content: parts(content, more) };
  },
});

export const handler = toHandler(route, openDeps);
