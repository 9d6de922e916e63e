import { readAll } from "../../events/read-all.ts";
import { commitChange } from "../changes/commit.ts";
import { documentEvent } from "../events/document-event.ts";
import { scheduleCheck } from "../media/scheduled-check.ts";
import { eventData } from "../media/upload.ts";
import { attachmentKey, attachmentsTable, documentAttachmentsTable } from "../tables/attachments.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";
import type { StoredImport } from "../tables/imports.ts";
import type { StoredUser } from "../tables/users.ts";
import { importedId } from "./discard.ts";
import { planChange } from "./import-state.ts";
import type { WriteDeps } from "./write-pages.ts";

const EVENTS_AT_ONCE = 20;

/**
 * Emits `documents.attachment.uploaded` for the attachments of an import whose documents are visible, and schedules
 * their scans. A repeated call continues where the previous one ended.
 */
export async function announceAttachments(
  deps: WriteDeps,
  user: StoredUser,
  stored: StoredImport,
): Promise<void> {
  const { checkedBy } = deps.documents.attachments;
  for (let at = stored.announced; at < stored.documents; at += 1) {
    const id = importedId(stored, at);
    const contained = await readAll(deps, documentAttachmentsTable, { pk: id });
    const keys = contained.map(({ attachment }) => attachment).filter((key) => key.startsWith(`${id}/`));
    if (keys.length === 0) continue;
    const document = await deps.tables.get(documentsTable, documentKey(id));
    const attachments = await deps.tables.batchGet(attachmentsTable, keys.map(attachmentKey));
    for (let from = 0; from < attachments.length; from += EVENTS_AT_ONCE) {
      const some = attachments.slice(from, from + EVENTS_AT_ONCE);
      if (checkedBy !== undefined && checkedBy !== "workflow")
        for (const { pk: key } of some) await scheduleCheck(deps, { document_id: id, key }, "now");
      const isLast = from + EVENTS_AT_ONCE >= attachments.length;
      if (document === undefined) continue;
      await commitChange(deps, async () => ({
        writes: isLast ? [planChange(stored, { set: { announced: at + 1 } })] : [],
        events: some.map((one) =>
          documentEvent("documents.attachment.uploaded", document, user, eventData(one)),
        ),
        result: undefined,
      }));
    }
  }
}
