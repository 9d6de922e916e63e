import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { flag } from "#lib/documents/fields.ts";
import { listNotifications, notificationRecord } from "#lib/documents/notifications/list.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { numbered, numberedPage, numberedQuery, numberedResponse } from "#lib/http/numbered-pages.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference: live-and-web 6.2, row 10. */
export const route = defineRoute({
  service: documentsService,
  operationId: "listNotifications",
  method: "GET",
  path: "/notifications",
  summary: "List the caller's notifications, latest first",
  tag: "Notifications",
  auth: "required",
  query: z.object({ ...numberedQuery, is_read: flag("Whether it was read") }),
  status: 200,
  response: numbered(notificationRecord).extend({
    unread_count: z.int().describe("Number of unread notifications, whatever the filter is"),
  }),
  run: async ({ query, request }, deps: Deps) => {
    const user = await requireUser(deps, request);
    const { unread_count, ...page } = await listNotifications(deps, user, query, numberedPage(query));
    return { ...numberedResponse(request, query, page), unread_count };
  },
});

export const handler = toHandler(route, openDeps);
