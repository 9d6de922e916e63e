import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute, type RawBody } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import { payloadOf, receiveResponse, receiveWebhook } from "#lib/workflows/webhooks/receive.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "receiveWebhook",
  method: "POST",
  path: "/webhooks/{id}",
  summary: "Fire a webhook trigger with the request body",
  tag: "Webhooks",
  auth: "none",
  params: z.object({ id: z.string() }),
  query: z.object({ key: z.string().max(512).optional() }),
  body: z.custom<RawBody>(),
  bodyKind: "raw",
  bodyTypes: ["application/json", "text/plain"],
  status: 202,
  response: receiveResponse,
  errors: [409, 413, 429],
  scripts: true,
  run: ({ params, query, body, request }, deps: Deps) => {
    const call = { body: body.text, headers: request.headers, key: query.key, method: "POST" } as const;
    return receiveWebhook(deps, params.id, call, payloadOf(body.text));
  },
});

export const handler = toHandler(route, openDeps);
