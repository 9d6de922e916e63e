import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { API_PAGE_POLICY, apiPage } from "#lib/http/api-page.ts";
import { toHandler } from "#lib/http/handler.ts";
import { HttpResponse } from "#lib/http/response.ts";
import { defineRoute } from "#lib/http/route.ts";
import { rootService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: rootService,
  operationId: "getApiPage",
  method: "GET",
  path: "/docs",
  summary: "Get the API reference as a page",
  tag: "Gateway",
  auth: "none",
  status: 200,
  response: z.unknown(),
  run: async ({ request }, _deps: Deps) =>
    new HttpResponse(apiPage(request), {
      contentType: "text/html; charset=utf-8",
      headers: { "content-security-policy": API_PAGE_POLICY },
    }),
});

export const handler = toHandler(route, openDeps);
