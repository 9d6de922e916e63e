import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { orderingQuery, pageQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import { listWebhooks, WEBHOOK_ORDERINGS, webhookRecord } from "#lib/workflows/webhooks/list.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "listWebhooks",
  method: "GET",
  path: "/webhooks",
  summary: "List webhooks with their addresses and secrets, newest first by default",
  tag: "Webhooks",
  auth: "required",
  query: z.object({ ordering: orderingQuery(WEBHOOK_ORDERINGS), ...pageQuery }),
  status: 200,
  response: webhookRecord,
  list: true,
  run: async ({ query: { ordering, ...page } }, deps: Deps) => ({
    listing: await listWebhooks(deps, page, ordering),
    pagination: page,
  }),
});

export const handler = toHandler(route, openDeps);
