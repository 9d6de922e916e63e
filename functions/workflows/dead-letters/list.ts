import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { pageQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { deadLetterRecord, listDeadLetters } from "#lib/workflows/dead-letters/dead-letters.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "listDeadLetters",
  method: "GET",
  path: "/dead-letters",
  summary: "List dead letters, newest first",
  tag: "Dead letters",
  auth: "required",
  query: z.object(pageQuery),
  status: 200,
  response: deadLetterRecord,
  list: true,
  run: async ({ query }, deps: Deps) => ({ listing: await listDeadLetters(deps, query), pagination: query }),
});

export const handler = toHandler(route, openDeps);
