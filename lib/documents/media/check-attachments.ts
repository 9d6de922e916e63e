import type { CommitDeps } from "../changes/commit.ts";
import { attachmentBlob, attachmentKey, attachmentsTable } from "../tables/attachments.ts";
import { type ReleaseDeps, releaseUnreferenced } from "./release-unreferenced.ts";
import type { AttachmentScanner } from "./scanner.ts";
import { type CheckMessage, INTERRUPTED_MS, scheduleCheck } from "./scheduled-check.ts";
import { recordVerdict } from "./verdict.ts";

export type CheckDeps = CommitDeps & ReleaseDeps & { readonly scanner: AttachmentScanner };

/**
 * Does what a check was scheduled for: deletes the bytes of an upload that was interrupted, scans an attachment that
 * waits for it, and removes attachments that nothing references. Rejects if the scanner does not respond: the message is
 * delivered again.
 */
export async function checkAttachments(
  deps: CheckDeps,
  { document_id: document, key, uploaded_at: at = 0 }: CheckMessage,
  signal: AbortSignal,
): Promise<void> {
  if (key !== undefined) await checkAttachment(deps, { document, key, at }, signal);
  await releaseUnreferenced(deps, document);
}

async function checkAttachment(
  deps: CheckDeps,
  { document, key, at }: { readonly document: string; readonly key: string; readonly at: number },
  signal: AbortSignal,
): Promise<void> {
  const { blobs, clock, tables } = deps;
  const stored = await tables.get(attachmentsTable, attachmentKey(key));
  if (stored === undefined) {
    const isInterrupted = at <= clock.now() - INTERRUPTED_MS;
    if (isInterrupted) await blobs.delete([attachmentBlob(key)]);
    else await scheduleCheck(deps, { document_id: document, key, uploaded_at: at }, "interrupted");
    return;
  }
  // A process may have died before it deleted them.
  if (stored.state === "infected") await blobs.delete([attachmentBlob(key)]);
  const { checkedBy } = deps.documents.attachments;
  if (stored.state !== "processing" || checkedBy === "workflow") return;
  // It was uploaded before the scanner was removed from the settings.
  if (checkedBy === undefined) return recordVerdict(deps, key, { isSafe: true });
  const chunks = await blobs.stream(attachmentBlob(key));
  if (chunks === undefined) throw new Error(`the bytes of the attachment ${key} are missing`);
  await recordVerdict(deps, key, await deps.scanner.scan(chunks, signal));
}
