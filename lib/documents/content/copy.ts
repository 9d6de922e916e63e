import type { Ports } from "../../platform/ports.ts";
import type { StoredDocument } from "../tables/documents.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";
import { versionBlob, versionKey, versionsTable } from "../tables/versions.ts";
import { contentBytes } from "./read.ts";

type CopyDeps = Pick<Ports, "tables" | "blobs" | "clock" | "ids">;

/** Copies a document's content to a detached copy as its first version. Repeating it is harmless. Reference 3.4. */
export async function copyContent(deps: CopyDeps, from: StoredDocument, to: StoredDocument): Promise<void> {
  const { content } = from;
  if (content === undefined) return;
  const version = deps.ids.ordered();
  await deps.blobs.put(versionBlob(to.id, version), await contentBytes(deps, from.id, content));
  const at = new Date(deps.clock.now()).toISOString();
  const { etag, bytes, kind } = content;
  const author = to.creator;
  await deps.tables.write([
    {
      op: "put",
      table: versionsTable,
      item: { ...versionKey(to.id, version), etag, bytes, kind, last_modified: at, author },
    },
    {
      op: "update",
      table: documentsTable,
      key: documentKey(to.id),
      change: { set: { content: { ...content, version, saved_at: at } } },
      when: [["pk", "exists"]],
    },
  ]);
}
