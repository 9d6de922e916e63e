import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { attachmentRecord, listAttachments } from "#lib/documents/media/list-attachments.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { numbered, numberedPage, numberedQuery, numberedResponse } from "#lib/http/numbered-pages.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Beyond the reference: it shows what was found in an infected file. Choice: infra/decisions/0119. */
export const route = defineRoute({
  service: documentsService,
  operationId: "listAttachments",
  method: "GET",
  path: "/documents/{id}/attachments",
  summary: "List the attachments of a document",
  tag: "Media",
  auth: "optional",
  throttle: "document",
  params: documentParams,
  query: z.object(numberedQuery),
  status: 200,
  response: numbered(attachmentRecord),
  errors: [403],
  run: async ({ params, query, request }, deps: Deps) => {
    const viewer = await resolveViewer(deps, request);
    const page = await listAttachments(deps, viewer, params.id, numberedPage(query));
    return numberedResponse(request, query, page);
  },
});

export const handler = toHandler(route, openDeps);
