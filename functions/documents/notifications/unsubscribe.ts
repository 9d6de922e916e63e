import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { UNSUBSCRIBE_PATH, unsubscribe } from "#lib/documents/notifications/unsubscribe.ts";
import { INVALID_UNSUBSCRIBE_PAGE, unsubscribedPage } from "#lib/documents/notifications/unsubscribe-page.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute, type RawBody } from "#lib/http/route.ts";
import { pageResponse } from "./open-unsubscribe-link.ts";

const BODY_LIMIT_BYTES = 4 * 1024;

/** Called by the form of the page, and by mail programs (RFC 8058). The token alone decides; the body is ignored. */
export const route = defineRoute({
  service: documentsService,
  operationId: "unsubscribe",
  method: "POST",
  path: UNSUBSCRIBE_PATH,
  summary: "Turn off emails, by a link in one",
  tag: "Notifications",
  auth: "none",
  includeInSchema: false,
  query: z.object({ token: z.string().default("") }),
  body: z.custom<RawBody>(),
  bodyKind: "raw",
  bodyTypes: ["application/x-www-form-urlencoded", "multipart/form-data"],
  bodyLimitBytes: BODY_LIMIT_BYTES,
  status: 200,
  response: z.unknown(),
  errors: [403, 413],
  run: async ({ query: { token } }, deps: Deps) => {
    const found = await unsubscribe(deps, token);
    return found === undefined
      ? pageResponse(INVALID_UNSUBSCRIBE_PAGE, 403)
      : pageResponse(unsubscribedPage(found.user.language, found.kinds));
  },
});

export const handler = toHandler(route, openDeps);
