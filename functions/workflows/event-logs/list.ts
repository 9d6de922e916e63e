import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { eventRecord, listEvents } from "#lib/events/log/list.ts";
import { toHandler } from "#lib/http/handler.ts";
import { arrivalOrderingQuery, booleanQuery, pageQuery, textQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** Seed: workflow 4, GET /event-logs. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "listEventLogs",
  method: "GET",
  path: "/event-logs",
  summary: "List the event log, newest first by default",
  tag: "Events",
  auth: "required",
  query: z.object({
    topic: textQuery,
    name: textQuery,
    source: textQuery,
    workspace: textQuery,
    run_id: textQuery,
    run_uuid: textQuery.describe("Same as run_id"),
    workflow_name: textQuery,
    processed: booleanQuery,
    ordering: arrivalOrderingQuery,
    ...pageQuery,
  }),
  status: 200,
  response: eventRecord,
  list: true,
  run: async ({ query }, deps: Deps) => {
    const { offset, limit, ordering, run_uuid, run_id, ...filters } = query;
    const page = { offset, limit, oldestFirst: ordering === "created_at" };
    return {
      listing: await listEvents(deps, { ...filters, run_id: run_id ?? run_uuid }, page),
      pagination: page,
    };
  },
});

export const handler = toHandler(route, openDeps);
