import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { pageQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import { explainMatches, MATCHES_LIMIT_MAX, matchRecord } from "#lib/workflows/triggers/explain-matches.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "listEventMatches",
  method: "GET",
  path: "/events/{id}/matches",
  summary: "List the triggers that an event matched, with their runs, and why others did not match",
  tag: "Events",
  auth: "required",
  params: z.object({ id: z.string().describe("event_id of the event, also with evt_") }),
  query: z.object(pageQuery),
  status: 200,
  response: matchRecord,
  list: true,
  errors: [429],
  scripts: true,
  run: async ({ params, query: { offset, limit } }, deps: Deps) => {
    const page = { offset, limit: Math.min(limit, MATCHES_LIMIT_MAX) };
    return { listing: await explainMatches(deps, params.id, page), pagination: page };
  },
});

export const handler = toHandler(route, openDeps);
