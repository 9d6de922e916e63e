import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { documentsService } from "#lib/documents/service.ts";
import { ApiError } from "#lib/errors.ts";
import { toHandler } from "#lib/http/handler.ts";
import { type ApiPaths, methodsAt } from "#lib/http/methods.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Requests that no other route takes: 405 if the path has other methods, else 404. Reference 1.0. */
export const route = defineRoute({
  service: documentsService,
  operationId: "documentsNotFound",
  method: "ANY",
  path: "/{proxy+}",
  summary: "Unknown paths and methods",
  tag: "Gateway",
  auth: "optional",
  otherMethods: true,
  status: 200,
  response: z.never(),
  run: async ({ request }, _deps: Deps): Promise<never> => {
    const { default: openapi } = await import("../../../openapi.json", { with: { type: "json" } });
    const found = methodsAt(openapi.paths as unknown as ApiPaths, request.path);
    if (found === undefined) throw new ApiError("not_found", "Not found.");
    // 401 comes before 405, so that anonymous callers do not learn which methods exist.
    if (found.needsToken && request.principal === undefined)
      throw new ApiError("unauthorized", "Authentication credentials were not provided.");
    throw new ApiError("method_not_allowed", `Method "${request.method}" not allowed.`, {
      allowed: found.methods,
    });
  },
});

export const handler = toHandler(route, openDeps);
