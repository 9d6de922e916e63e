import type { AuthorizationDeps, Viewer } from "../authorization/document-access.ts";
import { resolveAccesses } from "../authorization/document-access.ts";
import {
  attachmentKey,
  attachmentsTable,
  containedKey,
  documentAttachmentsTable,
  type StoredAttachment,
} from "../tables/attachments.ts";
import { documentKey, documentsTable, type StoredDocument } from "../tables/documents.ts";
import { type AttachmentKey, parseMediaUrl } from "./attachment-keys.ts";

/** Documents that are checked at once, and in total, for one that lets a viewer read an attachment. */
const CHECKED_AT_ONCE = 50;
const CHECKED_MAX = 1000;

/**
 * Whether the viewer may read the attachments of these documents: they have a role on one of them or on its ancestors,
 * or its link is open to them, whether or not they have visited it. Deleted documents count. Reference 1.7.
 */
async function mayReadMedia(
  deps: AuthorizationDeps,
  viewer: Viewer,
  documents: readonly StoredDocument[],
): Promise<boolean> {
  const { accesses } = await resolveAccesses(deps, viewer, documents);
  return accesses.some(({ role, context: { link } }) => {
    if (role !== null || link.reach === "public") return true;
    return viewer !== undefined && link.reach === "authenticated";
  });
}

/**
 * Whether one of the documents that contain an attachment lets the viewer read it. The one that it was uploaded to is
 * checked first.
 */
export async function mayReadAttachment(
  deps: AuthorizationDeps,
  viewer: Viewer,
  { key, document }: AttachmentKey,
): Promise<boolean> {
  const { tables } = deps;
  const [first, contains] = await Promise.all([
    tables.get(documentsTable, documentKey(document)),
    tables.get(documentAttachmentsTable, containedKey(document, key)),
  ]);
  if (contains !== undefined && first !== undefined && (await mayReadMedia(deps, viewer, [first])))
    return true;
  let checked = 0;
  let cursor: string | undefined;
  do {
    const page = await tables.query(documentAttachmentsTable, {
      index: "documents",
      pk: key,
      limit: CHECKED_AT_ONCE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const others = page.items.filter((one) => one.document !== document);
    const documents = await tables.batchGet(
      documentsTable,
      others.map((one) => documentKey(one.document)),
    );
    if (documents.length > 0 && (await mayReadMedia(deps, viewer, documents))) return true;
    checked += page.items.length;
    cursor = page.cursor;
  } while (cursor !== undefined && checked < CHECKED_MAX);
  return false;
}

/**
 * Finds the attachment that the URL of a request names, if the viewer may read it and it is ready. Undefined
 * otherwise, for whatever reason: a refusal reveals nothing. Reference 1.7, GET documents/media-auth/.
 */
export async function findReadableAttachment(
  deps: AuthorizationDeps,
  viewer: Viewer,
  url: string,
): Promise<{ readonly key: string; readonly attachment: StoredAttachment } | undefined> {
  const named = parseMediaUrl(url);
  if (named === undefined) return undefined;
  const [attachment, isReadable] = await Promise.all([
    deps.tables.get(attachmentsTable, attachmentKey(named.key)),
    mayReadAttachment(deps, viewer, named),
  ]);
  return attachment?.state === "ready" && isReadable ? { key: named.key, attachment } : undefined;
}
