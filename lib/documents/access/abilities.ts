import { type EquivalentLink, type LinkSelectOptions, linkRoleFor, linkSelectOptions } from "./links.ts";
import { higherRole, isPrivileged, type Role } from "./roles.ts";

/** The abilities of a viewer on a document, named as in the API. Reference 2.3. */
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

/** Who may use the AI features. */
export const AI_REACHES = ["public", "authenticated", "restricted"] as const;
export type AiReach = (typeof AI_REACHES)[number];

/** The facts that a viewer's abilities on a document depend on. */
export interface AccessContext {
  /** False for anonymous viewers. */
  readonly isAuthenticated: boolean;
  /** The viewer's highest role on the document or an ancestor. Link roles do not count. */
  readonly role: Role | null;
  /** The combined link of the document and its ancestors. */
  readonly link: EquivalentLink;
  /** The combined link of the ancestors alone. */
  readonly ancestorsLink: EquivalentLink;
  /** The document or an ancestor is in the trash. */
  readonly isDeleted: boolean;
  readonly isRoot: boolean;
  /** The viewer created the document. */
  readonly isCreator: boolean;
  /** The viewer has opened the document by its link. */
  readonly hasTrace: boolean;
  readonly aiAllowReachFrom: AiReach;
}

/**
 * Computes every ability of a viewer on a document. No other code decides permissions on documents. Reference 2.3.
 */
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
