import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { rootService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: rootService,
  operationId: "getOpenApi",
  method: "GET",
  path: "/openapi.json",
  summary: "Get the API reference as an OpenAPI 3.1 document",
  tag: "Gateway",
  auth: "none",
  status: 200,
  response: z.looseObject({}),
  run: async (_input, _deps: Deps): Promise<Readonly<Record<string, unknown>>> => {
    const { default: openapi } = await import("../../../openapi.json", { with: { type: "json" } });
    return openapi;
  },
});

export const handler = toHandler(route, openDeps);
