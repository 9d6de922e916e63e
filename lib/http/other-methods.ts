import * as z from "zod";
import { ApiError } from "../errors.ts";
import { defineRoute, type Method, type Route } from "./route.ts";

/**
 * The route of a path for all methods that have no route of their own there: 405. The gateway by itself, here as in
 * AWS, knows nothing of a method that a path does not have and answers 404. Reference: documents 1.0.
 */
export function otherMethods<Deps>({
  allowed,
  ...route
}: Pick<Route, "service" | "operationId" | "path" | "auth" | "tag"> & {
  readonly allowed: readonly Method[];
}): Route<unknown, unknown, unknown, never, Deps> {
  return defineRoute({
    ...route,
    method: "ANY",
    summary: `Methods other than ${allowed.join(", ")}`,
    status: 200,
    response: z.never(),
    run: ({ request }, _deps: Deps): never => {
      throw new ApiError("method_not_allowed", `Method "${request.method}" not allowed.`, { allowed });
    },
  });
}
