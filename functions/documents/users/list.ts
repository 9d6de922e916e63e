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
  summary: "Search users by email address, or related users by a part of the address or name",
  tag: "Users",
  auth: "required",
  throttle: "user_list",
  query: z.object({
    q: z
      .string()
      .optional()
      .describe("An email address, or a part of an address or name; without it the result is empty"),
    document_id: z
      .guid("Must be a valid UUID.")
      .transform((id) => id.toLowerCase())
      .optional()
      .describe("Exclude users with an access to this document"),
  }),
  status: 200,
  response: z.array(userRecord),
  run: async ({ query, request }, deps: Deps) =>
    (await searchUsers(deps, await requireUser(deps, request), query)).map(toUser),
});

export const handler = toHandler(route, openDeps);
