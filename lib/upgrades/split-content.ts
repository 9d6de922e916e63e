import { hash } from "node:crypto";
import type { Key, TableSpec } from "../platform/tables.ts";
import type { Migration, MigrationDeps } from "./migrations.ts";

/** A document as stored before release 5.0.0, with its content in base64. Other attributes are unchanged. */
interface DocumentBefore extends Key {
  readonly id: string;
  readonly content?: unknown;
  readonly creator?: string | null;
  readonly updated_at: string;
}

// The storage format of 5.0.0: later releases have their own migrations.
const documents: TableSpec<DocumentBefore> = { name: "documents", indexes: {} };
const versions: TableSpec = { name: "document-versions", indexes: {} };
const blobOf = (document: string, version: string): string => `documents/${document}/${version}`;

/** Documents per batch. */
const BATCH_SIZE = 25;

/**
 * Moves the content of documents into their first version, whose bytes are a blob. Idempotent: a document has either the
 * old or the new form, and the version's id is derived from the document. Seed: documents 9.5.
 */
export const splitContent: Migration = {
  name: "content-apart",
  release: "5.0",
  migrateBatch: async (deps, position) => {
    const scan = position === undefined ? { limit: BATCH_SIZE } : { limit: BATCH_SIZE, cursor: position };
    const { items, cursor } = await deps.tables.scan(documents, scan);
    for (const document of items) if (document.sk === "document") await migrateDocument(deps, document);
    return cursor;
  },
};

async function migrateDocument({ tables, blobs }: MigrationDeps, document: DocumentBefore): Promise<void> {
  const { pk, sk, id, content, creator = null, updated_at } = document;
  if (content === null || content === "") {
    const change = { remove: ["content"] };
    await tables.write([
      { op: "update", table: documents, key: { pk, sk }, change, when: [["content", "=", content]] },
    ]);
  }
  if (typeof content !== "string" || content === "") return;
  const { bytes, kind } = decode(content);
  const version = versionId(id, updated_at);
  await blobs.put(blobOf(id, version), bytes);
  const etag = hash("md5", bytes);
  const said = { etag, bytes: bytes.length, kind };
  const head = { version, ...said, saved_at: updated_at };
  // The condition fails if another server has just migrated it.
  await tables.write([
    {
      op: "update",
      table: documents,
      key: { pk, sk },
      change: { set: { content: head } },
      when: [["content", "=", content]],
    },
    {
      op: "put",
      table: versions,
      item: { pk: id, sk: version, ...said, last_modified: updated_at, author: creator },
    },
  ]);
}

/** Yjs states were stored as strict base64; anything else is text. */
function decode(content: string): { readonly bytes: Uint8Array; readonly kind: "yjs" | "plain" } {
  const bytes = Buffer.from(content, "base64");
  if (bytes.toString("base64") === content) return { bytes, kind: "yjs" };
  return { bytes: Buffer.from(content), kind: "plain" };
}

/** A version 7 UUID of the time of the document's last change, always the same: later versions sort after it. */
function versionId(document: string, at: string): string {
  const time = Math.max(0, Date.parse(at) || 0)
    .toString(16)
    .padStart(12, "0");
  const rest = hash("sha256", `5.0.0 ${document}`);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${rest.slice(0, 3)}-8${rest.slice(3, 6)}-${rest.slice(6, 18)}`;
}
