import * as z from "zod";
import { ABILITIES } from "../access/abilities.ts";
import { LINK_REACHES, LINK_ROLES } from "../access/links.ts";
import { ROLES } from "../access/roles.ts";
import type { DocumentAccess } from "../authorization/document-access.ts";
import { ancestorsAndSelf, toTreePath } from "../tree/ancestors.ts";
import type { Branch } from "./tree.ts";

const reach = z.enum(LINK_REACHES);
const linkRole = z.enum(LINK_ROLES);

/** A document as returned by the API. Reference 2.1. */
export const documentRecord = z
  .object({
    id: z.string(),
    abilities: z.object({
      ...Object.fromEntries(ABILITIES.map((ability) => [ability, z.boolean()])),
      link_select_options: z.partialRecord(reach, z.array(linkRole).nullable()),
    }),
    ancestors_link_reach: reach.nullable(),
    ancestors_link_role: linkRole.nullable(),
    computed_link_reach: reach.nullable(),
    computed_link_role: linkRole.nullable(),
    created_at: z.string(),
    creator: z.string().nullable().describe("Id of the creator"),
    deleted_at: z.string().nullable().describe("When the document or an ancestor was deleted"),
    depth: z.int().describe("1 for a root"),
    excerpt: z.string().nullable(),
    is_favorite: z.boolean(),
    link_role: linkRole,
    link_reach: reach,
    nb_accesses_ancestors: z.int(),
    nb_accesses_direct: z.int(),
    numchild: z.int().describe("Number of live children"),
    path: z.string().describe("Seven characters per level; sorting by it gives tree order"),
    title: z.string().nullable(),
    updated_at: z.string(),
    user_role: z.enum(ROLES).nullable(),
  })
  .meta({ id: "Document" });
export type DocumentRecord = z.infer<typeof documentRecord>;

/** A document in a tree. Reference 1.3. */
export interface TreeNode extends DocumentRecord {
  children: TreeNode[];
}

export const treeNode: z.ZodType<TreeNode> = documentRecord
  .extend({
    children: z.array(z.lazy(() => treeNode)).describe("In order; empty if the branch is not expanded"),
  })
  .meta({ id: "TreeNode" });

export const toTree = ({ access, children }: Branch): TreeNode => ({
  ...toDocument(access),
  children: children.map(toTree),
});

export function toDocument(access: DocumentAccess): DocumentRecord {
  const { document, ancestors, context, abilities, role, relation } = access;
  const { id, created_at, creator, excerpt, link_role, link_reach, numchild, title, updated_at } = document;
  const live = ancestorsAndSelf(access).filter(
    ({ deleted_at }) => deleted_at === null || deleted_at === document.deleted_at,
  );
  return {
    id,
    abilities: abilities as unknown as DocumentRecord["abilities"],
    ancestors_link_reach: context.ancestorsLink.reach,
    ancestors_link_role: context.ancestorsLink.role,
    computed_link_reach: context.link.reach,
    computed_link_role: context.link.role,
    created_at,
    creator,
    deleted_at: access.deletedAt,
    depth: ancestors.length + 1,
    excerpt,
    is_favorite: relation?.favorite === true,
    link_role,
    link_reach,
    nb_accesses_ancestors: live.reduce((sum, { accesses }) => sum + accesses, 0),
    nb_accesses_direct: document.accesses,
    numchild,
    path: toTreePath(access),
    title,
    updated_at,
    user_role: role,
  };
}
