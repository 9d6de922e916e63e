import { type Deps, openDeps } from "#lib/app/aws.ts";
import { notificationSettingsRecord, readSettings } from "#lib/documents/notifications/settings.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

export const route = defineRoute({
  service: documentsService,
  operationId: "getNotificationSettings",
  method: "GET",
  path: "/users/me/notification-settings",
  summary: "Get what the caller is notified of, and how",
  tag: "Notifications",
  auth: "required",
  status: 200,
  response: notificationSettingsRecord,
  run: async ({ request }, deps: Deps) => readSettings(deps, (await requireUser(deps, request)).id),
});

export const handler = toHandler(route, openDeps);
