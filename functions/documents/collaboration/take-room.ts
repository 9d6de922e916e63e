import { type Deps, openDeps } from "#lib/app/aws.ts";
import { findOrTakeRoom, roomBody, roomRecord } from "#lib/collaboration/room-leases.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** For the processes of a separate collaboration server. Choice: infra/decisions/0116. */
export const route = defineRoute({
  service: documentsService,
  operationId: "takeCollaborationRoom",
  method: "POST",
  path: "/collaboration/rooms",
  summary: "Find which process of a separate collaboration server has a document open, or take the document",
  tag: "Collaboration",
  auth: "required",
  callers: ["service"],
  body: roomBody,
  status: 200,
  response: roomRecord,
  errors: [403, 404, 409],
  run: ({ body }, deps: Deps) => findOrTakeRoom(deps, body),
});

export const handler = toHandler(route, openDeps);
