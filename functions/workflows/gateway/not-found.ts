import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { ApiError } from "#lib/errors.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** Requests without a matching route: 401 without a token, as for all paths of the service, otherwise 404. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "notFound",
  method: "ANY",
  path: "/{proxy+}",
  summary: "Unknown paths and methods",
  tag: "Gateway",
  auth: "required",
  status: 200,
  response: z.never(),
  run: (_input, _deps: Deps): never => {
    throw new ApiError("not_found", "Not found");
  },
});

export const handler = toHandler(route, openDeps);
