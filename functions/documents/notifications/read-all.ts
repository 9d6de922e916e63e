import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { markAllRead } from "#lib/documents/notifications/list.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

export const route = defineRoute({
  service: documentsService,
  operationId: "readAllNotifications",
  method: "POST",
  path: "/notifications/read-all",
  summary: "Mark all of the caller's notifications as read",
  tag: "Notifications",
  auth: "required",
  status: 204,
  response: z.void(),
  run: async ({ request }, deps: Deps) => markAllRead(deps, await requireUser(deps, request)),
});

export const handler = toHandler(route, openDeps);
