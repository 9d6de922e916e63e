import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { LOGIN_PATH } from "#lib/documents/login/login-links.ts";
import { loginService } from "#lib/documents/service.ts";
import { ApiError } from "#lib/errors.ts";
import { ownOrigin } from "#lib/http/auth.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute, type RawBody } from "#lib/http/route.ts";
import { signIn, targetOf } from "./open-link.ts";

const BODY_LIMIT_BYTES = 16 * 1024;

/** The form of the link's page. */
export const route = defineRoute({
  service: loginService,
  operationId: "useLoginLink",
  method: "POST",
  path: LOGIN_PATH,
  summary: "Use a one-time login link, which starts a session",
  tag: "Login",
  auth: "none",
  includeInSchema: false,
  throttle: "login",
  body: z.custom<RawBody>(),
  bodyKind: "raw",
  bodyTypes: ["application/x-www-form-urlencoded"],
  bodyLimitBytes: BODY_LIMIT_BYTES,
  status: 303,
  response: z.void(),
  errors: [403, 413, 429],
  run: async ({ body, request }, deps: Deps) => {
    // Another site must not sign a browser in to an account of its choice.
    const { origin } = request.headers;
    if (origin !== undefined && origin !== ownOrigin(request.headers, deps.publicUrl))
      throw new ApiError("forbidden", "The form of another site cannot sign in");
    const form = new URLSearchParams(body.text);
    const token = form.get("token");
    if (token === null) throw new ApiError("bad_request", "token: is required");
    const location = targetOf(deps, request, form.get("next") ?? undefined);
    return signIn(deps, request, { token, location });
  },
});

export const handler = toHandler(route, openDeps);
