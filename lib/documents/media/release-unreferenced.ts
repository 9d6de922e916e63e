import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import { CONFLICT, retryOnConflict } from "../../retry-on-conflict.ts";
import type { DocumentSettings } from "../../settings/document-config.ts";
import { findAttachmentKeys } from "../attachments/attachment-keys.ts";
import {
  attachmentBlob,
  attachmentKey,
  attachmentsTable,
  type ContainedAttachment,
  documentAttachmentsTable,
} from "../tables/attachments.ts";
import { documentKey, documentsTable, type StoredDocument } from "../tables/documents.ts";
import { type StoredVersion, versionBlob, versionsTable } from "../tables/versions.ts";
import { readDocumentWithLog } from "../updates/read-log.ts";
import { planFreed } from "./quotas.ts";
import { scheduleCheck } from "./scheduled-check.ts";

export type ReleaseDeps = Pick<Ports, "tables" | "blobs" | "timers" | "clock"> & {
  readonly documents: DocumentSettings;
};

/**
 * Marks the attachments of a document that neither its content nor a version references, and removes those that have
 * been marked for the grace period; the last document that contains an attachment deletes it. Schedules the next check
 * while any are marked.
 */
export async function releaseUnreferenced(deps: ReleaseDeps, id: string): Promise<void> {
  const contained = await readAll(deps, documentAttachmentsTable, { pk: id });
  if (contained.length === 0) return;
  const document = await deps.tables.get(documentsTable, documentKey(id));
  if (document === undefined) return;
  const referenced = await readReferenced(deps, document);
  const now = deps.clock.now();
  const dueBefore = now - deps.documents.attachments.unreferencedMs;
  let isAnyMarked = false;
  for (const one of contained) {
    const { pk, sk, attachment, unreferenced_since: since } = one;
    if (referenced.has(attachment)) {
      if (since !== undefined)
        await deps.tables.update(documentAttachmentsTable, { pk, sk }, { remove: ["unreferenced_since"] }, [
          ["pk", "exists"],
        ]);
    } else if (since !== undefined && since <= dueBefore) {
      await removeAttachment(deps, one);
    } else {
      isAnyMarked = true;
      if (since === undefined)
        await deps.tables.update(documentAttachmentsTable, { pk, sk }, { set: { unreferenced_since: now } }, [
          ["pk", "exists"],
        ]);
    }
  }
  if (isAnyMarked) await scheduleCheck(deps, { document_id: id }, "unreferenced");
}

/** Reads the keys that the content of a document, its update log and its versions reference. */
async function readReferenced(deps: ReleaseDeps, document: StoredDocument): Promise<ReadonlySet<string>> {
  const { id } = document;
  const referenced = new Set<string>();
  // The log first: what a compaction removes from it is in a version then.
  const { entries } = await readDocumentWithLog(deps, id, document);
  for (const update of entries.flatMap(({ updates }) => updates))
    for (const key of findAttachmentKeys(update)) referenced.add(key);
  for (const version of await readAll(deps, versionsTable, { pk: id }))
    for (const key of version.attachments ?? (await readKeys(deps, id, version))) referenced.add(key);
  return referenced;
}

/** Reads a version of an earlier release, whose row does not name the attachments. */
async function readKeys(
  { blobs }: Pick<Ports, "blobs">,
  document: string,
  { sk }: StoredVersion,
): Promise<readonly string[]> {
  const bytes = await blobs.get(versionBlob(document, sk));
  return bytes === undefined ? [] : findAttachmentKeys(bytes);
}

/** Removes an attachment from a document, unless it was referenced meanwhile. */
async function removeAttachment(deps: ReleaseDeps, one: ContainedAttachment): Promise<void> {
  const { pk, sk, document, attachment: key, unreferenced_since: since = 0 } = one;
  const isDeleted = await retryOnConflict(
    async () => {
      const stored = await deps.tables.get(attachmentsTable, attachmentKey(key));
      const isLast = stored === undefined || stored.documents <= 1;
      // If the process dies after the transaction, the check deletes the bytes.
      if (isLast)
        await scheduleCheck(
          deps,
          { document_id: document, key, uploaded_at: deps.clock.now() },
          "interrupted",
        );
      const outcome = await deps.tables.write([
        {
          op: "delete",
          table: documentAttachmentsTable,
          key: { pk, sk },
          when: [["unreferenced_since", "=", since]],
        },
        ...(stored === undefined
          ? []
          : [
              isLast
                ? ({
                    op: "delete",
                    table: attachmentsTable,
                    key: attachmentKey(key),
                    when: [["documents", "=", stored.documents]],
                  } as const)
                : ({
                    op: "update",
                    table: attachmentsTable,
                    key: attachmentKey(key),
                    change: { add: { documents: -1 } },
                    when: [["documents", "=", stored.documents]],
                  } as const),
              ...(isLast && stored.state !== "infected" ? planFreed(stored.document, stored.bytes) : []),
            ]),
      ]);
      if (outcome.ok) return isLast;
      // It is referenced again.
      return outcome.failed.includes(0) ? false : CONFLICT;
    },
    { exceeded: () => new Error(`the attachment ${key} is being changed again and again`) },
  );
  if (isDeleted) await deps.blobs.delete([attachmentBlob(key)]);
}
