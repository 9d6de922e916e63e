import { type Deps, openDeps } from "#lib/app/aws.ts";
import { keepNode, nodeBody, nodesRecord } from "#lib/collaboration/room-leases.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** For the processes of a separate collaboration server. Choice: infra/decisions/0116. */
export const route = defineRoute({
  service: documentsService,
  operationId: "keepCollaborationNode",
  method: "POST",
  path: "/collaboration/nodes",
  summary: "Take, renew or end the lease of a process of a separate collaboration server",
  tag: "Collaboration",
  auth: "required",
  callers: ["service"],
  body: nodeBody,
  status: 200,
  response: nodesRecord,
  errors: [403, 404],
  run: ({ body }, deps: Deps) => keepNode(deps, body),
});

export const handler = toHandler(route, openDeps);
