import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import { CONFLICT, retryOnConflict } from "../../retry-on-conflict.ts";
import { attachmentKey, attachmentsTable, documentAttachmentsTable } from "../tables/attachments.ts";
import {
  childrenOf,
  childrenTable,
  documentKey,
  documentsTable,
  type StoredDocument,
} from "../tables/documents.ts";
import { INDEX_DOCUMENTS_QUEUE, type IndexMessage, indexMessage } from "../tables/index-messages.ts";
import { commentsTable, threadsTable } from "../tables/threads.ts";
import { encodeParts, limitParts, splitInTurns, type TextPart } from "./text-parts.ts";

export type IndexDeps = Pick<Ports, "tables" | "blobs" | "queues" | "fullText" | "clock" | "ids" | "log">;

let contentParts: Promise<typeof import("./content-parts.ts")> | undefined;

/** Children that get a message in one turn. */
const CHILDREN_AT_ONCE = 100;

/**
 * Brings the full-text index up to date with a document: its title, content, comments and names of attachments. May be
 * repeated, and run at the same time: the state that was read last is stored. A deleted document has no text.
 */
export async function indexDocument(deps: IndexDeps, id: string): Promise<void> {
  const { fullText, ids } = deps;
  await retryOnConflict(
    async () => {
      // Before the document is read: if the index changes meanwhile, the document is read again.
      const [stored] = await fullText.get([id]);
      const parts = await readParts(deps, id);
      if (stored === undefined && parts.length === 0) return;
      const data = encodeParts(parts);
      if (stored !== undefined && Buffer.compare(stored.data, data) === 0) return;
      const text = { id, version: ids.ordered(), data, words: await splitInTurns(parts) };
      return (await fullText.put(text, stored?.version)) ? undefined : CONFLICT;
    },
    { exceeded: () => new Error(`the document ${id} is being indexed again and again`) },
  );
}

/** Sends a message for each child of a document. */
export async function requestChildren(
  { tables, queues }: IndexDeps,
  { document_id: parent, after }: IndexMessage,
): Promise<void> {
  const { items, cursor } = await tables.query(childrenTable, {
    pk: childrenOf(parent),
    limit: CHILDREN_AT_ONCE,
    ...(after === undefined ? {} : { sk: { after } }),
  });
  const last = items.at(-1);
  const messages = items.map(({ id }) => indexMessage({ document_id: id, descendants: true }));
  if (cursor !== undefined && last !== undefined)
    messages.push(indexMessage({ document_id: parent, descendants: true, after: last.sk }));
  if (messages.length > 0) await queues.send(INDEX_DOCUMENTS_QUEUE, messages);
}

async function readParts(deps: IndexDeps, id: string): Promise<TextPart[]> {
  const document = await deps.tables.get(documentsTable, documentKey(id));
  if (document === undefined || document.deleted_at !== null) return [];
  const { title } = document;
  const [content, attachments, comments] = await Promise.all([
    readContentParts(deps, document),
    readAttachmentNames(deps, id),
    readComments(deps, id),
  ]);
  return limitParts([
    ...(title === null ? [] : [{ field: "title" as const, source: null, text: title }]),
    ...content,
    ...attachments,
    ...comments,
  ]);
}

/** Loads Yjs with the first document. An `import` of a loaded module takes time, too. */
async function readContentParts(deps: IndexDeps, document: StoredDocument): Promise<TextPart[]> {
  contentParts ??= import("./content-parts.ts");
  return (await contentParts).readContentParts(deps, document);
}

async function readAttachmentNames({ tables }: IndexDeps, id: string): Promise<TextPart[]> {
  const contained = await readAll({ tables }, documentAttachmentsTable, { pk: id });
  const keys = contained.map(({ attachment }) => attachmentKey(attachment));
  const found = keys.length === 0 ? [] : await tables.batchGet(attachmentsTable, keys);
  return found
    .filter(({ state }) => state !== "infected")
    .map(({ pk, name }) => ({ field: "attachment", source: pk, text: name }));
}

/** The newest comments first, because they are limited. Comments without a thread are unreachable. */
async function readComments({ tables }: IndexDeps, id: string): Promise<TextPart[]> {
  const comments = await readAll({ tables }, commentsTable, { pk: id });
  if (comments.length === 0) return [];
  const threads = new Set((await readAll({ tables }, threadsTable, { pk: id })).map((thread) => thread.id));
  return comments
    .filter(({ thread }) => threads.has(thread))
    .sort((one, other) => (one.created_at < other.created_at ? 1 : -1))
    .map(({ thread, body }) => ({
      field: "comment",
      source: thread,
      text: textsOf(JSON.parse(body), true).join(" "),
    }));
}

/** The texts of a comment, which is any JSON value, usually blocks of an editor. */
function textsOf(value: unknown, isText = false): string[] {
  if (typeof value === "string") return isText ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((one) => textsOf(one, isText));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) => textsOf(one, name === "text" || name === "content"));
}
