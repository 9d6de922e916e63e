import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { booleanQuery, orderingQuery, pageQuery, textQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { listSchedules, SCHEDULE_ORDERINGS } from "#lib/workflows/schedules/list.ts";
import { scheduleRecord } from "#lib/workflows/schedules/schedule-record.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "listSchedules",
  method: "GET",
  path: "/schedules",
  summary: "List schedules and the triggers of workflows, newest first by default",
  tag: "Schedules",
  auth: "required",
  query: z.object({
    workflow_name: textQuery,
    trigger_type: textQuery.describe("cron, event, watch, manual or webhook"),
    enabled: booleanQuery,
    ordering: orderingQuery(SCHEDULE_ORDERINGS),
    ...pageQuery,
  }),
  status: 200,
  response: scheduleRecord,
  list: true,
  run: async ({ query }, deps: Deps) => {
    const { offset, limit, workflow_name: workflow, ...filters } = query;
    const page = { offset, limit };
    return { listing: await listSchedules(deps, { ...filters, workflow }, page), pagination: page };
  },
});

export const handler = toHandler(route, openDeps);
