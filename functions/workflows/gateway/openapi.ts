import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { rootService } from "#lib/workflows/service.ts";
import openapi from "../../../openapi.json" with { type: "json" };

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
  run: (_input, _deps: Deps) => openapi as Readonly<Record<string, unknown>>,
});

export const handler = toHandler(route, openDeps);
