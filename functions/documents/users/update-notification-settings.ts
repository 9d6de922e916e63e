import { type Deps, openDeps } from "#lib/app/aws.ts";
import {
  notificationSettingsBody,
  notificationSettingsRecord,
  updateSettings,
} from "#lib/documents/notifications/settings.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

export const route = defineRoute({
  service: documentsService,
  operationId: "updateNotificationSettings",
  method: "PATCH",
  path: "/users/me/notification-settings",
  summary: "Change what the caller is notified of, and how",
  tag: "Notifications",
  auth: "required",
  body: notificationSettingsBody,
  status: 200,
  response: notificationSettingsRecord,
  run: async ({ body, request }, deps: Deps) => updateSettings(deps, await requireUser(deps, request), body),
});

export const handler = toHandler(route, openDeps);
