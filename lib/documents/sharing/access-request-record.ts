import * as z from "zod";
import { isPrivileged, ROLES, type Role, rolesUpTo } from "../access/roles.ts";
import type { StoredAccessRequest } from "../tables/access-requests.ts";
import type { StoredUser } from "../tables/users.ts";
import { toUser, userRecord } from "../users/record.ts";

const REQUESTABLE_ROLES = ["reader", "commenter", "editor", "administrator"] as const;
const role = z.enum(ROLES);

/** Body of an access request. Reference 1.11. */
export const accessRequestBody = z.object({ role: z.enum(REQUESTABLE_ROLES).default("reader") });

/** Body of its acceptance. Default: the requested role. */
export const acceptRequestBody = z.object({ role: role.nullish() });

/** An access request as returned by the API. Reference 1.11. */
export const accessRequestRecord = z
  .object({
    id: z.string(),
    document: z.string(),
    user: userRecord,
    role,
    created_at: z.string(),
    abilities: z.object({
      destroy: z.boolean(),
      update: z.boolean(),
      partial_update: z.boolean(),
      retrieve: z.boolean(),
      accept: z.boolean(),
      set_role_to: z.array(role).describe("Roles that may be granted"),
    }),
  })
  .meta({ id: "AccessRequest" });
export type AccessRequestRecord = z.infer<typeof accessRequestRecord>;

/** `callerRole`: the caller's role on the document. */
export function toAccessRequest(
  request: StoredAccessRequest,
  user: StoredUser,
  callerRole: Role | null,
): AccessRequestRecord {
  const { id, document, created_at } = request;
  const manages = isPrivileged(callerRole);
  const set_role_to = callerRole === null ? [] : [...rolesUpTo(callerRole)];
  return {
    id,
    document,
    user: toUser(user),
    role: request.role,
    created_at,
    abilities: {
      destroy: manages,
      update: manages,
      partial_update: manages,
      retrieve: manages,
      accept: manages,
      set_role_to,
    },
  };
}
