import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { CONFLICT, retryOnConflict } from "../../retry-on-conflict.ts";
import { authorize } from "../authorization/document-access.ts";
import type { CommitDeps } from "../changes/commit.ts";
import type { Cause, ContentAccess } from "../content/text-access.ts";
import { type CreateDeps, createChild, createDocument } from "../records/create.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";
import type { StoredUser } from "../tables/users.ts";
import { COMMENT_MAX_BYTES } from "../threads/body.ts";
import { createThread } from "../threads/threads.ts";
import { getOrCreateOwner, usersByEmail } from "../users/users.ts";

/** A call of the script API for documents. */
export type DocumentCall =
  | {
      readonly of: "new document";
      readonly title: string;
      readonly content?: string | undefined;
      readonly parent?: string | undefined;
    }
  | { readonly of: "text of document"; readonly id: string }
  | { readonly of: "more text" | "new comment"; readonly id: string; readonly text: string };

/** The call's id and the run it comes from. */
export interface CallOrigin {
  /** A UUID that stays the same if the call is repeated. */
  readonly call: string;
  readonly cause: Cause;
}

export type DocumentCallDeps = CreateDeps &
  Pick<Ports, "claims"> & {
    readonly documentContent?: ContentAccess;
  };

/** Maximum characters of a document that a script can read. */
const READ_MAX_CHARS = 4_000_000;
/** Attempts at appending to a document that others change. */
const APPENDS_MAX = 10;

/**
 * Handles a script's call on documents as the user that the installation names for workflows, with that user's
 * permissions. Returns a text or the id of the created object; a repeated call does not create it again. Throws
 * ApiError.
 */
export async function handleDocumentCall(
  deps: DocumentCallDeps,
  call: DocumentCall,
  origin: CallOrigin,
): Promise<string> {
  const user = await resolveWorkflowUser(deps);
  const caused = withCause(deps, origin);
  switch (call.of) {
    case "new document":
      return createDocumentOnce(caused, user, call, origin);
    case "text of document":
      return read(caused, user, call.id);
    case "more text":
      return append(caused, user, call, origin);
    case "new comment":
      return (await createThread(caused, user, call.id, toCommentBlocks(call.text), origin.call)).id;
  }
}

/** Throws `bad_request` unless exactly one active user has the address. */
async function resolveWorkflowUser(deps: DocumentCallDeps): Promise<StoredUser> {
  const { workflowsEmail, ownerEmail } = deps.documents;
  if (workflowsEmail === "") return getOrCreateOwner(deps, ownerEmail);
  const [user, ...others] = (await usersByEmail(deps, workflowsEmail)).filter(({ is_active }) => is_active);
  if (user !== undefined && others.length === 0) return user;
  const how = user === undefined ? "no user has" : "several users have";
  throw new ApiError("bad_request", `${how} the email address in WORKFLOW_DOCUMENTS_USER`);
}

/** Adds the run to the events of the change, one hop further: workflows that trigger themselves stop. */
function withCause<Asked extends CommitDeps>(deps: Asked, { cause }: CallOrigin): Asked {
  const { effects } = deps;
  return {
    ...deps,
    effects: {
      ...effects,
      apply: (drafts, at) =>
        effects.apply(
          drafts.map((draft) => ({ ...draft, ...cause })),
          at,
        ),
    },
  };
}

/** Editors accept UUIDs of version 4 only. Reference 11.7. */
const toUuidV4 = (id: string): string => `${id.slice(0, 14)}4${id.slice(15)}`;

async function createDocumentOnce(
  deps: DocumentCallDeps,
  user: StoredUser,
  { title, content = "", parent }: Extract<DocumentCall, { of: "new document" }>,
  { call, cause }: CallOrigin,
): Promise<string> {
  const id = toUuidV4(call);
  const access = content === "" ? undefined : contentOf(deps);
  if (!(await isAlreadyCreated(deps, user, id))) {
    const above = parent === undefined ? undefined : await authorize(deps, user, parent, "children_create");
    try {
      await (above === undefined
        ? createDocument(deps, user, { id, title })
        : createChild(deps, user, above, { id, title }));
    } catch (error) {
      // A concurrent repetition of the call may have created it.
      if (!(await isAlreadyCreated(deps, user, id))) throw error;
    }
  }
  if (access !== undefined)
    await access.append(user, id, content, { ifNone: true, cause }).catch(ignoreConflict);
  return id;
}

/** A repetition of the call, or another writer, has saved content already. */
function ignoreConflict(error: unknown): void {
  if (!isConflict(error)) throw error;
}

const isConflict = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code === "conflict";

/** Throws `conflict` if another user's document has the id. */
async function isAlreadyCreated(
  { tables }: DocumentCallDeps,
  user: StoredUser,
  id: string,
): Promise<boolean> {
  const document = await tables.get(documentsTable, documentKey(id));
  if (document === undefined) return false;
  if (document.creator !== user.id) throw new ApiError("conflict", "Another user's document has this id");
  return true;
}

async function read(deps: DocumentCallDeps, user: StoredUser, id: string): Promise<string> {
  await authorize(deps, user, id, "content_retrieve");
  const text = (await contentOf(deps).read(id)) ?? "";
  if (text.length > READ_MAX_CHARS)
    throw new ApiError("bad_request", `The document has more than ${READ_MAX_CHARS} characters`);
  return text;
}

async function append(
  deps: DocumentCallDeps,
  user: StoredUser,
  { id, text }: Extract<DocumentCall, { of: "more text" | "new comment" }>,
  { call, cause }: CallOrigin,
): Promise<string> {
  const claim = `runs/${cause.run_id}/documents/${call}`;
  let conflict: unknown;
  const tryToAppend = async (): Promise<string | typeof CONFLICT> => {
    await authorize(deps, user, id, "content_patch");
    const access = contentOf(deps);
    if (await deps.claims.isTaken(claim)) return id;
    try {
      await access.append(user, id, text, { cause });
    } catch (error) {
      if (!isConflict(error)) throw error;
      conflict = error;
      return CONFLICT;
    }
    await deps.claims.take(claim);
    return id;
  };
  return retryOnConflict(tryToAppend, { attempts: APPENDS_MAX, exceeded: () => conflict as Error });
}

/** Throws `bad_request` if content is not available here. */
function contentOf({ documentContent }: DocumentCallDeps): ContentAccess {
  if (documentContent === undefined)
    throw new ApiError("bad_request", "The content of documents is not available here.");
  return documentContent;
}

/** Converts text to editor blocks, one paragraph per line, as JSON text. Throws `bad_request` if it is too long. */
function toCommentBlocks(text: string): string {
  const blocks = text.split(/\r?\n/).map((line) => ({
    type: "paragraph",
    content: line === "" ? [] : [{ type: "text", text: line, styles: {} }],
  }));
  const body = JSON.stringify(blocks);
  if (Buffer.byteLength(body) > COMMENT_MAX_BYTES)
    throw new ApiError("bad_request", `The comment is longer than ${COMMENT_MAX_BYTES} bytes.`);
  return body;
}
