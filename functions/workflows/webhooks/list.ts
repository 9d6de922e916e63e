import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { pageQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import { listWebhooks, webhookRecord } from "#lib/workflows/webhooks/list.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "listWebhooks",
  method: "GET",
  path: "/webhooks",
  summary: "List webhooks with their addresses and secrets, newest first",
  tag: "Webhooks",
  auth: "required",
  query: z.object(pageQuery),
  status: 200,
  response: webhookRecord,
  list: true,
  run: async ({ query }, deps: Deps) => ({ listing: await listWebhooks(deps, query), pagination: query }),
});

export const handler = toHandler(route, openDeps);
