import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { ApiError } from "#lib/errors.ts";
import { toHandler } from "#lib/http/handler.ts";
import { HttpResponse } from "#lib/http/response.ts";
import { defineRoute } from "#lib/http/route.ts";
import { WEB_PAGE_BLOB, webPage } from "#lib/http/web-page.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** The page for CloudFront, with a nonce that a file in a bucket could not have. Decision 0169. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "getWebPage",
  method: "GET",
  path: "/web-page",
  summary: "Get the page of the web interface, on AWS",
  tag: "Gateway",
  auth: "none",
  includeInSchema: false,
  status: 200,
  response: z.unknown(),
  run: async (_input, deps: Deps) => {
    const built = await deps.blobs.get(WEB_PAGE_BLOB);
    if (built === undefined)
      throw new ApiError("not_found", "The web interface is not uploaded: run npm run web:upload");
    const { html, headers } = webPage(Buffer.from(built).toString("utf8"), connectOrigins(deps));
    return new HttpResponse(html, { contentType: "text/html; charset=utf-8", headers });
  },
});

/** WebSockets of a collaboration server of its own, which are at another host. */
function connectOrigins({ documents }: Deps): string[] {
  const { COLLABORATION_WS_URL: url } = documents.clientSettings;
  return typeof url === "string" && URL.canParse(url) ? [new URL(url).origin] : [];
}

export const handler = toHandler(route, openDeps);
