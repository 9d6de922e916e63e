import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { htmlPageHeaders } from "#lib/documents/html-page.ts";
import { readUnsubscribeToken, UNSUBSCRIBE_PATH } from "#lib/documents/notifications/unsubscribe.ts";
import {
  askToUnsubscribePage,
  INVALID_UNSUBSCRIBE_PAGE,
} from "#lib/documents/notifications/unsubscribe-page.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { HttpResponse } from "#lib/http/response.ts";
import { defineRoute } from "#lib/http/route.ts";

/** The page of the link at the end of an email. */
export const route = defineRoute({
  service: documentsService,
  operationId: "openUnsubscribeLink",
  method: "GET",
  path: UNSUBSCRIBE_PATH,
  summary: "Ask whether to turn off emails, from a link in one",
  tag: "Notifications",
  auth: "none",
  includeInSchema: false,
  query: z.object({ token: z.string().default("") }),
  status: 200,
  response: z.unknown(),
  errors: [403],
  run: async ({ query: { token } }, deps: Deps) => {
    const found = await readUnsubscribeToken(deps, token);
    return found === undefined
      ? pageResponse(INVALID_UNSUBSCRIBE_PAGE, 403)
      : pageResponse(askToUnsubscribePage(found.user.language, found.kinds));
  },
});

export const pageResponse = (html: string, status: 200 | 403 = 200): HttpResponse =>
  new HttpResponse(html, {
    status,
    contentType: "text/html; charset=utf-8",
    headers: htmlPageHeaders(),
  });

export const handler = toHandler(route, openDeps);
