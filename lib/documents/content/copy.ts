import { hash } from "node:crypto";
import type { Ports } from "../../platform/ports.ts";
import { copyAttachments } from "../attachments/adopt.ts";
import { findAttachmentKeys } from "../attachments/attachment-keys.ts";
import type { StoredDocument } from "../tables/documents.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";
import { versionBlob, versionKey, versionsTable } from "../tables/versions.ts";
import { readCurrentContent } from "./read.ts";

type CopyDeps = Pick<Ports, "tables" | "blobs" | "clock" | "ids">;

/** Copies a document's content to a detached copy as its first version. Repeating it is harmless. Reference 3.4. */
export async function copyContent(deps: CopyDeps, from: StoredDocument, to: StoredDocument): Promise<void> {
  const content = await readCurrentContent(deps, from);
  if (content === undefined) return;
  const version = deps.ids.ordered();
  await deps.blobs.put(versionBlob(to.id, version), content.bytes);
  const at = new Date(deps.clock.now()).toISOString();
  const { kind } = content;
  const etag = hash("md5", content.bytes);
  const bytes = content.bytes.length;
  const author = to.creator;
  const attachments = findAttachmentKeys(content.bytes);
  await copyAttachments(deps, from.id, to.id, attachments);
  await deps.tables.write([
    {
      op: "put",
      table: versionsTable,
      item: { ...versionKey(to.id, version), etag, bytes, kind, last_modified: at, author, attachments },
    },
    {
      op: "update",
      table: documentsTable,
      key: documentKey(to.id),
      change: { set: { content: { version, etag, bytes, kind, saved_at: at } } },
      when: [["pk", "exists"]],
    },
  ]);
}
