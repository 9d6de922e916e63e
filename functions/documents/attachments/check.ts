import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { authorize } from "#lib/documents/authorization/document-access.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { checkMedia } from "#lib/documents/media/media-status.ts";
import { can } from "#lib/documents/requests/can.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** The response to an upload. */
export const mediaCheckRecord = z
  .object({ file: z.string().describe("Path of media-check/ for the attachment") })
  .meta({ id: "UploadedAttachment" });

/** The path at which clients ask whether an attachment is ready. */
export const mediaCheckUrl = (document: string, key: string): string =>
  `${documentsService.basePath}/documents/${document}/media-check/?key=${encodeURIComponent(key)}`;

/** Reference 1.7, GET documents/{id}/media-check/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "checkMedia",
  method: "GET",
  path: "/documents/{id}/media-check",
  summary: "Whether an attachment is ready, and then its URL",
  tag: "Media",
  auth: "optional",
  throttle: "document",
  params: documentParams,
  query: z.object({ key: z.string().optional() }),
  status: 200,
  response: z.union([
    z.object({ status: z.literal("processing") }),
    z.object({ status: z.literal("ready"), file: z.string() }),
  ]),
  errors: [403],
  before: can("media_check"),
  run: async ({ params, query, request }, deps: Deps) => {
    await authorize(deps, await resolveViewer(deps, request), params.id, "media_check");
    return checkMedia(deps, params.id, query.key);
  },
});

export const handler = toHandler(route, openDeps);
