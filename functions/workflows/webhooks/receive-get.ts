import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import { receiveResponse, receiveWebhook } from "#lib/workflows/webhooks/receive.ts";

/** For callers that can only open a URL; the query is the payload. Reference 1.8. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "receiveWebhookByGet",
  method: "GET",
  path: "/webhooks/{id}",
  summary: "Fire a webhook trigger with a GET request",
  tag: "Webhooks",
  auth: "none",
  params: z.object({ id: z.string() }),
  query: z.object({ key: z.string().max(512).optional() }).catchall(z.string()),
  status: 202,
  response: receiveResponse,
  errors: [409, 429],
  scripts: true,
  run: ({ params, query, request }, deps: Deps) => {
    const { key, ...data } = query;
    return receiveWebhook(deps, params.id, { body: "", headers: request.headers, key, method: "GET" }, data);
  },
});

export const handler = toHandler(route, openDeps);
