import { type Deps, openDeps } from "#lib/app/aws.ts";
import { ApiError } from "#lib/errors.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { route as post } from "./logout.ts";

/** Reference 1.15, GET logout/. */
export const route = defineRoute({
  ...post,
  operationId: "logOutByGet",
  method: "GET",
  summary: "End the browser's session like POST, unless ALLOW_LOGOUT_GET_METHOD is false",
  run: (input, deps: Deps) => {
    if (!deps.documents.login.allowsLogoutByGet)
      throw new ApiError("method_not_allowed", 'Method "GET" not allowed.', { allowed: ["POST"] });
    return post.run(input, deps);
  },
});

export const handler = toHandler(route, openDeps);
