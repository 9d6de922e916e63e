import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { permissionDenied } from "#lib/documents/access/errors.ts";
import { findReadableAttachment } from "#lib/documents/attachments/media-access.ts";
import { authorizeDownload } from "#lib/documents/media/read-media.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { HttpResponse } from "#lib/http/response.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Every refusal is the same, so that it reveals nothing. Reference 1.7, GET documents/media-auth/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "authorizeMedia",
  method: "GET",
  path: "/documents/media-auth",
  summary:
    "Authorize a gateway's request for an attachment, whose URL is in the header MEDIA_AUTH_ORIGINAL_URL_HEADER; with the headers that sign its request to S3",
  tag: "Media",
  auth: "optional",
  status: 200,
  response: z.literal("authorized"),
  errors: [403],
  run: async ({ request }, deps: Deps) => {
    const url = request.headers[deps.documents.mediaAuthOriginalUrlHeader] ?? "";
    const found = await findReadableAttachment(deps, await resolveViewer(deps, request), url);
    if (found === undefined) throw permissionDenied();
    return new HttpResponse("authorized", { headers: await authorizeDownload(deps, found.key) });
  },
});

export const handler = toHandler(route, openDeps);
