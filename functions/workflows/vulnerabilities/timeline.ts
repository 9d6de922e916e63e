import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { textQuery, wholeNumber } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import {
  readTimeline,
  TIMELINE_DAYS_MAX,
  vulnerabilityTimeline,
} from "#lib/workflows/vulnerabilities/timeline.ts";

const DAYS_DEFAULT = 30;

export const route = defineRoute({
  service: workflowsService,
  operationId: "getVulnerabilityTimeline",
  method: "GET",
  path: "/vulnerabilities/timeline",
  summary: "Count the vulnerabilities found on each of the last days, by severity",
  tag: "Vulnerabilities",
  auth: "required",
  query: z.object({
    workspace: textQuery,
    days: wholeNumber(1)
      .optional()
      .transform((value) => Math.min(value ?? DAYS_DEFAULT, TIMELINE_DAYS_MAX))
      .meta({
        description: `At most ${TIMELINE_DAYS_MAX}`,
        type: "integer",
        minimum: 1,
        default: DAYS_DEFAULT,
      }),
  }),
  status: 200,
  response: z.object({ data: vulnerabilityTimeline }),
  run: async ({ query }, deps: Deps) => ({ data: await readTimeline(deps, query.workspace, query.days) }),
});

export const handler = toHandler(route, openDeps);
