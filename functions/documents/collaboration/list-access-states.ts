import { type Deps, openDeps } from "#lib/app/aws.ts";
import { accessStatesBody, accessStatesRecord, listAccessStates } from "#lib/collaboration/changes.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** For a separate collaboration server. Choice: infra/decisions/0111. */
export const route = defineRoute({
  service: documentsService,
  operationId: "listCollaborationAccessStates",
  method: "POST",
  path: "/collaboration/access-states",
  summary: "List the ancestors of documents; for a separate collaboration server",
  tag: "Collaboration",
  auth: "required",
  callers: ["service"],
  body: accessStatesBody,
  status: 200,
  response: accessStatesRecord,
  errors: [403],
  run: ({ body }, deps: Deps) => listAccessStates(deps, body),
});

export const handler = toHandler(route, openDeps);
