import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { markRead } from "#lib/documents/notifications/list.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

export const route = defineRoute({
  service: documentsService,
  operationId: "readNotification",
  method: "POST",
  path: "/notifications/{id}/read",
  summary: "Mark a notification as read",
  tag: "Notifications",
  auth: "required",
  params: z.object({ id: z.guid().transform((id) => id.toLowerCase()) }),
  status: 204,
  response: z.void(),
  errors: [404],
  run: async ({ params, request }, deps: Deps) => markRead(deps, await requireUser(deps, request), params.id),
});

export const handler = toHandler(route, openDeps);
