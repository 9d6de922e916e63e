import type { Ports } from "../../platform/ports.ts";
import { composeAttachmentKey } from "../attachments/attachment-keys.ts";
import { HEAD_BYTES, recognizeFile } from "../attachments/file-kind.ts";
import { cleanFileName } from "../attachments/file-name.ts";
import type { AuthorizationDeps } from "../authorization/document-access.ts";
import { type CommitDeps, commitChange } from "../changes/commit.ts";
import { planUsage } from "../media/quotas.ts";
import { scheduleCheck } from "../media/scheduled-check.ts";
import {
  attachmentBlob,
  attachmentKey,
  attachmentsTable,
  containedKey,
  documentAttachmentsTable,
} from "../tables/attachments.ts";

type StoreDeps = CommitDeps & AuthorizationDeps & Pick<Ports, "blobs" | "timers">;

/**
 * Stores a file of an import as an attachment of a document that is not visible yet, and returns its key. Throws
 * `bad_request` if it exceeds a quota.
 */
export async function storeAttachment(
  deps: StoreDeps,
  to: { readonly document: string; readonly user: string; readonly id: string },
  { name: given, bytes }: { readonly name: string; readonly bytes: Uint8Array },
): Promise<string> {
  const { checksTypes, checkedBy } = deps.documents.attachments;
  const { document, user, id } = to;
  const name = cleanFileName(given);
  const kind = await recognizeFile(bytes.subarray(0, HEAD_BYTES), name, { checksTypes });
  const key = composeAttachmentKey(document, id, kind);
  const now = deps.clock.now();
  await scheduleCheck(deps, { document_id: document, key, uploaded_at: now }, "interrupted");
  await deps.blobs.put(attachmentBlob(key), bytes);
  const stored = {
    ...attachmentKey(key),
    document,
    name,
    type: kind.type,
    bytes: bytes.length,
    state: checkedBy === undefined ? "ready" : "processing",
    is_unsafe: kind.isUnsafe,
    documents: 1,
    owner: user,
    created_at: new Date(now).toISOString(),
  } as const;
  await commitChange(deps, async () => ({
    writes: [
      { op: "put", table: attachmentsTable, item: stored, when: [["pk", "missing"]] },
      {
        op: "put",
        table: documentAttachmentsTable,
        item: { ...containedKey(document, key), attachment: key, document },
      },
      ...(await planUsage(deps, document, bytes.length)),
    ],
    events: [],
    result: undefined,
  }));
  return key;
}
