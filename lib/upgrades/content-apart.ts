import { hash } from "node:crypto";
import type { Key, TableSpec } from "../platform/tables.ts";
import type { Migration, MigrationDeps } from "./migrations.ts";

/** A document as releases before 5.0.0 stored it: with what was in it, base64. Its other parts stay as they are. */
interface DocumentBefore extends Key {
  readonly id: string;
  readonly content?: unknown;
  readonly creator?: string | null;
  readonly updated_at: string;
}

// What 5.0.0 stores, as it was then: later releases have migrations of their own.
const documents: TableSpec<DocumentBefore> = { name: "documents", indexes: {} };
const versions: TableSpec = { name: "document-versions", indexes: {} };
const blobOf = (document: string, version: string): string => `documents/${document}/${version}`;

/** Documents of a piece. */
const PIECE = 25;

/**
 * Content leaves the documents: it becomes the first of their versions, whose bytes are a blob. A document has the old
 * or the new, and a version's id follows from the document, so what is done twice comes to the same. Seed: documents 9.5.
 */
export const contentApart: Migration = {
  name: "content-apart",
  release: "5.0",
  piece: async (deps, place) => {
    const scan = place === undefined ? { limit: PIECE } : { limit: PIECE, cursor: place };
    const { items, cursor } = await deps.tables.scan(documents, scan);
    for (const document of items) if (document.sk === "document") await takeOut(deps, document);
    return cursor;
  },
};

async function takeOut({ tables, blobs }: MigrationDeps, document: DocumentBefore): Promise<void> {
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
  // Where it does not hold, somebody else has just done the same.
  await tables.write([
    {
      ...{ op: "update", table: documents, key: { pk, sk } },
      change: { set: { content: head } },
      when: [["content", "=", content]],
    },
    {
      ...{ op: "put", table: versions },
      item: { pk: id, sk: version, ...said, last_modified: updated_at, author: creator },
    },
  ]);
}

/** States of Yjs were stored as strict base64; what is none was text, and stays it. */
function decode(content: string): { readonly bytes: Uint8Array; readonly kind: "yjs" | "plain" } {
  const bytes = Buffer.from(content, "base64");
  if (bytes.toString("base64") === content) return { bytes, kind: "yjs" };
  return { bytes: Buffer.from(content), kind: "plain" };
}

/** A version 7 UUID of the time when the document was last changed, always the same: later versions sort after it. */
function versionId(document: string, at: string): string {
  const time = Math.max(0, Date.parse(at) || 0)
    .toString(16)
    .padStart(12, "0");
  const rest = hash("sha256", `5.0.0 ${document}`);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${rest.slice(0, 3)}-8${rest.slice(3, 6)}-${rest.slice(6, 18)}`;
}
