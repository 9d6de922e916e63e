import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { API_PAGE_POLICY, type ApiDocument, apiPage } from "#lib/http/api-page.ts";
import { toHandler } from "#lib/http/handler.ts";
import { HttpResponse } from "#lib/http/response.ts";
import { defineRoute } from "#lib/http/route.ts";
import { rootService } from "#lib/workflows/service.ts";
import openapi from "../../../openapi.json" with { type: "json" };

let page: string | undefined;

export const route = defineRoute({
  service: rootService,
  operationId: "getApiPage",
  method: "GET",
  path: "/docs",
  summary: "This interface as a page to read",
  tag: "Gateway",
  auth: "none",
  status: 200,
  response: z.unknown(),
  run: async (_input, _deps: Deps) => {
    page ??= apiPage(openapi as unknown as ApiDocument);
    return new HttpResponse(page, {
      contentType: "text/html; charset=utf-8",
      headers: { "content-security-policy": API_PAGE_POLICY },
    });
  },
});

export const handler = toHandler(route, openDeps);
