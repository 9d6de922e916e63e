import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { orderingQuery, pageQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { deadLetterRecord, listDeadLetters } from "#lib/workflows/dead-letters/dead-letters.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "listDeadLetters",
  method: "GET",
  path: "/dead-letters",
  summary: "List dead letters, newest first by default",
  tag: "Dead letters",
  auth: "required",
  query: z.object({ ordering: orderingQuery(["-received_at", "received_at"]), ...pageQuery }),
  status: 200,
  response: deadLetterRecord,
  list: true,
  run: async ({ query: { ordering, ...page } }, deps: Deps) => ({
    listing: await listDeadLetters(deps, { ...page, oldestFirst: ordering === "received_at" }),
    pagination: page,
  }),
});

export const handler = toHandler(route, openDeps);
