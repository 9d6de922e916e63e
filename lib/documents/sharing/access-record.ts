import * as z from "zod";
import { type AccessRowAbilities, computeAccessRowAbilities } from "../access/access-row-abilities.ts";
import { higherRole, ROLES, type Role } from "../access/roles.ts";
import type { StoredAccess } from "../tables/accesses.ts";
import type { StoredUser } from "../tables/users.ts";
import { type DocumentNode, toTreePath } from "../tree/ancestors.ts";
import { lightUserRecord, toLightUser, toUser, userRecord } from "../users/record.ts";

const role = z.enum(ROLES);

/** An access row as returned by the API. Reference 1.9. */
export const accessRecord = z
  .object({
    id: z.string(),
    document: z.object({ id: z.string(), path: z.string(), depth: z.int() }),
    user: z
      .union([userRecord, lightUserRecord])
      .nullable()
      .describe("Names only if the caller may not manage accesses"),
    team: z.string().nullable(),
    role,
    abilities: z.object({
      destroy: z.boolean(),
      update: z.boolean(),
      partial_update: z.boolean(),
      retrieve: z.boolean(),
      set_role_to: z.array(role).describe("Roles that it may be changed to"),
    }),
    max_ancestors_role: role
      .nullable()
      .describe("Highest role of the same user or team on an ancestor; in lists only"),
    max_role: role,
  })
  .meta({ id: "DocumentAccess" });
export type AccessRecord = z.infer<typeof accessRecord>;

/** An access row with everything its response needs. */
export interface ShownAccess {
  readonly access: StoredAccess;
  /** The access's document. */
  readonly node: DocumentNode;
  readonly user: StoredUser | undefined;
  readonly abilities: AccessRowAbilities;
  readonly maxAncestorsRole: Role | null;
}

/** Computes the abilities of an access row. */
export function toShownAccess(
  access: StoredAccess,
  node: DocumentNode,
  viewer: StoredUser,
  known: {
    readonly callerRole: Role | null;
    readonly user: StoredUser | undefined;
    readonly maxAncestorsRole: Role | null;
  },
): ShownAccess {
  const { callerRole, user, maxAncestorsRole } = known;
  const { document } = node;
  const abilities = computeAccessRowAbilities({
    callerRole,
    maxAncestorsRole,
    role: access.role,
    isOwn: access.user === viewer.id,
    isRoot: document.parent === null,
    owners: document.owners,
  });
  return { access, node, user, abilities, maxAncestorsRole };
}

/** `light`: names only, for callers who may not manage accesses. */
export function toAccess(shown: ShownAccess, { light }: { readonly light: boolean }): AccessRecord {
  const { access, node, user, abilities, maxAncestorsRole } = shown;
  const { id, team } = access;
  return {
    id,
    team,
    role: access.role,
    document: { id: node.document.id, path: toTreePath(node), depth: node.ancestors.length + 1 },
    user: user === undefined ? null : light ? toLightUser(user) : toUser(user),
    abilities: { ...abilities, set_role_to: [...abilities.set_role_to] },
    max_ancestors_role: maxAncestorsRole,
    max_role: higherRole(maxAncestorsRole, access.role) ?? access.role,
  };
}
