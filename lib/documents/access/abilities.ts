import { type EquivalentLink, type LinkSelectOptions, linkRoleFor, linkSelectOptions } from "./links.ts";
import { higherRole, isPrivileged, type Role } from "./roles.ts";

/** What somebody may do with a document, by the names that clients know. Reference 2.3. */
export const ABILITIES = [
  "accesses_manage",
  "accesses_view",
  "ai_proxy",
  "ai_transform",
  "ai_translate",
  "attachment_upload",
  "can_edit",
  "children_create",
  "children_list",
  "collaboration_auth",
  "comment",
  "content_patch",
  "content_retrieve",
  "cors_proxy",
  "descendants",
  "destroy",
  "duplicate",
  "favorite",
  "formatted_content",
  "invite_owner",
  "leave",
  "link_configuration",
  "mask",
  "media_auth",
  "media_check",
  "move",
  "partial_update",
  "restore",
  "retrieve",
  "search",
  "tree",
  "update",
  "versions_destroy",
  "versions_list",
  "versions_retrieve",
] as const;
export type Ability = (typeof ABILITIES)[number];
export type Abilities = Readonly<Record<Ability, boolean>> & {
  readonly link_select_options: LinkSelectOptions;
};

/** Who keeps the functions of language models. Seed: documents 5.3. */
export const AI_REACHES = ["public", "authenticated", "restricted"] as const;
export type AiReach = (typeof AI_REACHES)[number];

/** How somebody stands to a document: all that abilities depend on. */
export interface AccessContext {
  /** Known by name; else nobody but a holder of the link. */
  readonly isAuthenticated: boolean;
  /** Highest role on the document or any ancestor; link roles are none. */
  readonly role: Role | null;
  /** What the links of the document and its ancestors come to. */
  readonly link: EquivalentLink;
  /** What those of the ancestors alone come to. */
  readonly ancestorsLink: EquivalentLink;
  /** The document or an ancestor is in the trash. */
  readonly isDeleted: boolean;
  readonly isRoot: boolean;
  /** Made the document. */
  readonly isCreator: boolean;
  /** Has opened it by its link. */
  readonly hasTrace: boolean;
  readonly aiAllowReachFrom: AiReach;
}

/** The one place where it is decided who may do what with a document. Reference 2.3. */
export function computeAbilities(context: AccessContext): Abilities {
  const { isAuthenticated, role, isDeleted, isRoot, isCreator, hasTrace } = context;
  const isLive = !isDeleted;
  const isOwner = role === "owner";
  const manages = isLive && isPrivileged(role);
  const reached = higherRole(role, linkRoleFor(context.link, isAuthenticated));
  const reads = isLive && reached !== null;
  const edits = isLive && (isPrivileged(reached) || reached === "editor");
  const comments = edits || (isLive && reached === "commenter");
  const isMember = isLive && role !== null;
  const usesAi = {
    public: edits,
    authenticated: edits && isAuthenticated,
    restricted: manages || (isLive && role === "editor"),
  }[context.aiAllowReachFrom];
  const keeps = reads && isAuthenticated;
  return {
    accesses_manage: manages,
    accesses_view: isMember,
    ai_proxy: usesAi,
    ai_transform: usesAi,
    ai_translate: usesAi,
    attachment_upload: edits,
    can_edit: edits,
    children_create: edits && isAuthenticated,
    children_list: reads,
    collaboration_auth: reads,
    comment: comments,
    content_patch: edits,
    content_retrieve: reads || isOwner,
    cors_proxy: reads,
    descendants: reads,
    destroy: isLive && (isRoot ? isOwner : manages || isCreator),
    duplicate: keeps,
    favorite: keeps,
    formatted_content: reads,
    invite_owner: isLive && isOwner,
    leave: isAuthenticated && isLive && (role === null ? hasTrace : !isPrivileged(role)),
    link_configuration: manages,
    mask: keeps,
    media_auth: reads,
    media_check: reads,
    move: manages,
    partial_update: edits,
    restore: isOwner,
    retrieve: reads || isOwner,
    search: reads,
    tree: reads || isOwner,
    update: edits,
    versions_destroy: manages,
    versions_list: isMember,
    versions_retrieve: isMember,
    link_select_options: linkSelectOptions(context.ancestorsLink),
  };
}
