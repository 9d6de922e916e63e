import { type Deps, openDeps } from "#lib/app/aws.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { resolveThread } from "#lib/documents/threads/threads.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { route as resolve } from "./resolve.ts";

/** Reference 1.12, POST threads/{tid}/unresolve/. */
export const route = defineRoute({
  ...resolve,
  operationId: "unresolveThread",
  path: "/documents/{id}/threads/{thread}/unresolve",
  summary: "Reopen a resolved thread, as its creator or a manager of the document",
  run: async ({ params, request }, deps: Deps) =>
    resolveThread(deps, await resolveViewer(deps, request), params, false),
});

export const handler = toHandler(route, openDeps);
