import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { composeAttachmentKey } from "../attachments/attachment-keys.ts";
import { type FileKind, HEAD_BYTES, recognizeFile } from "../attachments/file-kind.ts";
import { cleanFileName } from "../attachments/file-name.ts";
import { type AuthorizationDeps, authorize, type DocumentAccess } from "../authorization/document-access.ts";
import { type CommitDeps, commitChange } from "../changes/commit.ts";
import { documentEvent } from "../events/document-event.ts";
import {
  attachmentBlob,
  attachmentKey,
  attachmentsTable,
  type ContainedAttachment,
  containedKey,
  documentAttachmentsTable,
  type StoredAttachment,
} from "../tables/attachments.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";
import { fileError, planUsage } from "./quotas.ts";
import { scheduleCheck } from "./scheduled-check.ts";

export type UploadDeps = CommitDeps &
  AuthorizationDeps &
  Pick<Ports, "blobs" | "ids" | "timers" | "clock" | "log">;

/** A file that is being uploaded. */
export interface UploadedFile {
  /** Any text. */
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Identifies the attachment; random if undefined. */
  readonly id?: string;
}

/**
 * Stores a file as an attachment of a document, in constant memory, and returns its key. The bytes are stored first,
 * then one transaction makes them an attachment, so that it exists as a whole or not at all; a timer, which is set before,
 * deletes what a crash leaves. Emits `documents.attachment.uploaded`. Throws `bad_request` for an empty file and for one
 * that exceeds a quota, what `chunks` throw, `not_found`, `unauthorized`, `forbidden`. Reference 1.7.
 */
export async function uploadAttachment(
  deps: UploadDeps,
  first: DocumentAccess,
  { name: sent, chunks, id: given }: UploadedFile,
): Promise<string> {
  const { viewer } = first;
  const { id } = first.document;
  const { checkedBy, checksTypes } = deps.documents.attachments;
  const name = cleanFileName(sent);
  const file = await readHead(chunks);
  if (file.head.length === 0) throw fileError("The submitted file is empty.");
  const kind = await recognizeFile(file.head, name, { checksTypes });
  const key = composeAttachmentKey(id, given ?? deps.ids.random(), kind);
  const check = { document_id: id, key, uploaded_at: deps.clock.now() };
  await scheduleCheck(deps, check, "interrupted");
  const bytes = await deps.blobs.putStream(attachmentBlob(key), file.all());
  try {
    await commitChange(deps, async () => {
      // The client may have sent for a minute.
      const access = await authorize(deps, viewer, id, "attachment_upload");
      const stored = toStored(key, { name, bytes, kind, owner: viewer?.id ?? null }, deps);
      return {
        writes: [
          { op: "check", table: documentsTable, key: documentKey(id), when: [["deleted_at", "=", null]] },
          { op: "put", table: attachmentsTable, item: stored, when: [["pk", "missing"]] },
          { op: "put", table: documentAttachmentsTable, item: contained(id, key, deps.clock.now()) },
          ...(await planUsage(deps, id, bytes)),
        ],
        events: [documentEvent("documents.attachment.uploaded", access.document, viewer, eventData(stored))],
        result: undefined,
      };
    });
  } catch (error) {
    // After other errors it is unknown whether the transaction was committed: the timer finds out.
    if (error instanceof ApiError) await deps.blobs.delete([attachmentBlob(key)]).catch(() => undefined);
    throw error;
  }
  if (checkedBy !== undefined && checkedBy !== "workflow") await scheduleCheck(deps, check, "now");
  return key;
}

/** Data of an attachment's events, besides the document. */
export const eventData = ({ pk, name, type, bytes, is_unsafe }: StoredAttachment) => ({
  key: pk,
  name,
  content_type: type,
  bytes,
  is_unsafe,
});

function toStored(
  key: string,
  { name, bytes, kind, owner }: { name: string; bytes: number; kind: FileKind; owner: string | null },
  { clock, documents }: UploadDeps,
): StoredAttachment {
  return {
    ...attachmentKey(key),
    document: key.slice(0, key.indexOf("/")),
    name,
    type: kind.type,
    bytes,
    state: documents.attachments.checkedBy === undefined ? "ready" : "processing",
    is_unsafe: kind.isUnsafe,
    documents: 1,
    owner,
    created_at: new Date(clock.now()).toISOString(),
  };
}

/** Until it is saved in the content, nothing references it. */
const contained = (document: string, attachment: string, now: number): ContainedAttachment => ({
  ...containedKey(document, attachment),
  attachment,
  document,
  unreferenced_since: now,
});

/** Reads the first bytes of a stream, without losing them. */
async function readHead(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ readonly head: Uint8Array; all(): AsyncGenerator<Uint8Array> }> {
  const rest = chunks[Symbol.asyncIterator]();
  const parts: Uint8Array[] = [];
  let bytes = 0;
  let isAtEnd = false;
  while (bytes < HEAD_BYTES && !isAtEnd) {
    const next = await rest.next();
    isAtEnd = next.done === true;
    if (next.done === true) break;
    parts.push(next.value);
    bytes += next.value.length;
  }
  const head = Buffer.concat(parts);
  return {
    head: head.subarray(0, HEAD_BYTES),
    async *all() {
      try {
        yield head;
        for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
      } finally {
        await rest.return?.();
      }
    },
  };
}
