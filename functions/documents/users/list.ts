import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { searchUsers } from "#lib/documents/sharing/user-search.ts";
import { toUser, userRecord } from "#lib/documents/users/record.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.13, GET users/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "listUsers",
  method: "GET",
  path: "/users",
  summary: "Find users: all by an address, by a part of it or of a name those near to the caller",
  tag: "Users",
  auth: "required",
  throttle: "user_list",
  query: z.object({
    q: z
      .string()
      .optional()
      .describe("An address, or a part of one or of a name; without it nobody is found"),
    document_id: z
      .guid("Must be a valid UUID.")
      .transform((id) => id.toLowerCase())
      .optional()
      .describe("A document whose members are left out"),
  }),
  status: 200,
  response: z.array(userRecord),
  run: async ({ query, request }, deps: Deps) =>
    (await searchUsers(deps, await requireUser(deps, request), query)).map(toUser),
});

export const handler = toHandler(route, openDeps);
