import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toUser, userRecord } from "#lib/documents/users/record.ts";
import { requireSelf, updateUser, userBody } from "#lib/documents/users/update.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.13, PUT users/{id}/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "replaceUser",
  method: "PUT",
  path: "/users/{id}",
  summary: "Change the caller's language",
  tag: "Users",
  auth: "required",
  params: z.object({ id: z.guid().transform((id) => id.toLowerCase()) }),
  body: userBody,
  status: 200,
  response: userRecord,
  errors: [403],
  before: async ({ params, request }, deps: Deps) => requireSelf(await requireUser(deps, request), params.id),
  run: async ({ params, body, request }, deps: Deps) =>
    toUser(await updateUser(deps, await requireUser(deps, request), params.id, body)),
});

export const handler = toHandler(route, openDeps);
