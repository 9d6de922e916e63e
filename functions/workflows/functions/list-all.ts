import * as z from "zod";
import { openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { textQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { functionList, listFunctions } from "#lib/workflows/evaluation/list-functions.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** The path that clients of older engines use. Reference 1.10, GET /functions/list. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "listAllFunctions",
  method: "GET",
  path: "/functions/list",
  summary: "As GET /functions",
  tag: "Functions",
  auth: "required",
  query: z.object({ group: textQuery, search: textQuery.describe("Part of the name or description") }),
  status: 200,
  response: functionList,
  run: ({ query }) => listFunctions(query),
});

export const handler = toHandler(route, openDeps);
