import * as z from "zod";
import { openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { orderingQuery, textQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { FUNCTION_ORDERINGS, functionList, listFunctions } from "#lib/workflows/evaluation/list-functions.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** Not paginated: there are a few hundred functions, and they do not change. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "listFunctions",
  method: "GET",
  path: "/functions",
  summary: "List the functions that scripts may call",
  tag: "Functions",
  auth: "required",
  query: z.object({
    group: textQuery,
    search: textQuery.describe("Substring of the name or description"),
    ordering: orderingQuery(FUNCTION_ORDERINGS),
  }),
  status: 200,
  response: functionList,
  run: ({ query }) => listFunctions(query),
});

export const handler = toHandler(route, openDeps);
