import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { authorize } from "#lib/documents/authorization/document-access.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { fetchImage } from "#lib/documents/media/proxied-image.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { ApiError } from "#lib/errors.ts";
import type { FileResponse } from "#lib/http/file-response.ts";
import { toHandler } from "#lib/http/handler.ts";
import type { StatusCode } from "#lib/http/response.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.7, GET documents/{id}/cors-proxy/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "proxyImage",
  method: "GET",
  path: "/documents/{id}/cors-proxy",
  summary: "Get an image of another site, for clients that export a document",
  tag: "Media",
  auth: "optional",
  throttle: "document",
  params: documentParams,
  query: z.object({ url: z.string().optional() }),
  status: 200,
  response: z.custom<FileResponse>(),
  fileTypes: ["image/*"],
  errors: [403],
  run: async ({ params, query, request }, deps: Deps): Promise<FileResponse> => {
    if (!query.url) throw new ApiError("bad_request", "Missing 'url' query parameter");
    await authorize(deps, await resolveViewer(deps, request), params.id, "cors_proxy");
    const { status, type, content } = await fetchImage(deps, query.url);
    return {
      type,
      status: status as StatusCode,
      headers: {
        "content-disposition": "attachment;",
        "content-security-policy": "sandbox; img-src 'none' data:",
      },
      content,
    };
  },
});

export const handler = toHandler(route, openDeps);
