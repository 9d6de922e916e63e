import { type Deps, openDeps } from "#lib/app/aws.ts";
import { createLoginLink, loginLinkBody, loginLinkRecord } from "#lib/documents/login/login-links.ts";
import { requireInstallationOwner } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute, fullPath } from "#lib/http/route.ts";

/** Called by `weft open` and `weft login-link`. */
export const route = defineRoute({
  service: documentsService,
  operationId: "createLoginLink",
  method: "POST",
  path: "/login-links",
  summary: "Create a link that signs a user in once, within ten minutes",
  tag: "Login",
  auth: "required",
  body: loginLinkBody,
  status: 201,
  response: loginLinkRecord,
  errors: [403, 409, 429],
  run: ({ body, request }, deps: Deps) => {
    requireInstallationOwner(request);
    return createLoginLink(deps, body, baseUrlOf(request));
  },
});

/** On AWS the path of a request begins with the stage of the API. */
function baseUrlOf(request: { address(): string }): string {
  const address = request.address();
  return address.slice(0, address.lastIndexOf(fullPath({ service: documentsService, path: "/login-links" })));
}

export const handler = toHandler(route, openDeps);
