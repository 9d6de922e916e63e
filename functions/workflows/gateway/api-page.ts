import * as z from "zod";
import { type Deps, openDeps } from "#lib/deps.ts";
import { API_PAGE_POLICY, type ApiDocument, apiPage } from "#lib/http/api-page.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute, OtherAnswer } from "#lib/http/route.ts";
import openapi from "../../../openapi.json" with { type: "json" };

let page: string | undefined;

export const route = defineRoute({
  service: "root",
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
    return new OtherAnswer(page, {
      contentType: "text/html; charset=utf-8",
      headers: { "content-security-policy": API_PAGE_POLICY },
    });
  },
});

export const handler = toHandler(route, openDeps);
