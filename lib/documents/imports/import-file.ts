import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { cleanFileName } from "../attachments/file-name.ts";
import { type DocumentAccess, documentNotFound, resolveAccess } from "../authorization/document-access.ts";
import { inMegabytes } from "../media/quotas.ts";
import { TITLE_MAX_LENGTH } from "../records/body.ts";
import { importBlob, importKey, importsTable, type StoredImport } from "../tables/imports.ts";
import type { StoredUser } from "../tables/users.ts";
import { readNode } from "../tree/ancestors.ts";
import { announceAttachments } from "./announce.ts";
import { convertFile } from "./convert-file.ts";
import { type FileFormat, fileError, formatOf, isOfFormat, wrongContent } from "./file-format.ts";
import { failImport, finishImport, IMPORTS_QUEUE, LEASE_MS, toSkipped, wakeAt } from "./import-state.ts";
import { attachImport, type WriteDeps, writePages } from "./write-pages.ts";

export type ImportDeps = WriteDeps & Pick<Ports, "queues">;

/** A file that a client sends. */
export interface SentFile {
  /** Any text. */
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** A file that was received: in memory, or stored for a job. */
export interface ReceivedFile {
  readonly name: string;
  readonly format: FileFormat;
  readonly content: Uint8Array | { readonly importId: string };
}

/** The imported document, or the job that imports it. */
export type Imported =
  | { readonly document: DocumentAccess; readonly skipped: readonly string[] }
  | { readonly job: StoredImport };

/** A larger file is imported by a job, bytes. */
const AT_ONCE_MAX_BYTES = 5 * 1024 * 1024;
const HEAD_BYTES = 4_096;
/** Time after which a received file without an import is left from a crash: less than the delay of a message. */
const RECEIVED_MS = 14 * 60_000;

/**
 * Receives the file of a form. Throws `bad_request` if imports are disabled, and for files whose extension is not
 * allowed, whose content is not of their extension, or which are empty. Reference 5.3.
 */
export async function receiveFile(deps: ImportDeps, { name: sent, chunks }: SentFile): Promise<ReceivedFile> {
  const { clientSettings } = deps.documents;
  if (!clientSettings.CONVERSION_UPLOAD_ENABLED) throw fileError("file upload is not allowed");
  const name = cleanFileName(sent);
  const format = formatOf(name, clientSettings);
  const rest = chunks[Symbol.asyncIterator]();
  const parts: Uint8Array[] = [];
  let bytes = 0;
  let isComplete = false;
  while (!isComplete && bytes <= (format === "zip" ? HEAD_BYTES : AT_ONCE_MAX_BYTES)) {
    const next = await rest.next();
    isComplete = next.done === true;
    if (next.done === true) break;
    parts.push(next.value);
    bytes += next.value.length;
  }
  const head = Buffer.concat(parts);
  if (head.length === 0) throw fileError("The submitted file is empty.");
  if (!isOfFormat(head.subarray(0, HEAD_BYTES), format)) throw wrongContent(format);
  if (isComplete && format !== "zip") return { name, format, content: head };
  const importId = deps.ids.random();
  await wakeAt(deps, importId, deps.clock.now() + RECEIVED_MS);
  await deps.blobs.putStream(importBlob(importId), joined(head, rest));
  return { name, format, content: { importId } };
}

async function* joined(head: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield head;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/** The error for a file that exceeds CONVERSION_FILE_MAX_SIZE. Reference 5.3. */
export const fileTooLarge = (maxBytes: number): ApiError =>
  fileError(`File size exceeds the maximum limit of ${inMegabytes(maxBytes)}.`);

/**
 * Imports a received file below a document, or as a root. One that a job imports is returned as such. A crash leaves
 * nothing: a timer removes what was written. Throws `bad_request`, `forbidden`, `not_found`, `unavailable`.
 */
export async function importFile(
  deps: ImportDeps,
  user: StoredUser,
  { name, format, content }: ReceivedFile,
  to: { readonly parent: string | null; readonly id?: string | null | undefined },
): Promise<Imported> {
  if ("importId" in content && to.id != null)
    throw new ApiError("bad_request", JOB_ID, { body: { id: [JOB_ID] } });
  if ("importId" in content) return { job: await startJob(deps, user, content.importId, { name, to }) };
  if (format === "zip") throw new TypeError("an archive is imported by a job");
  const page = await convertFile(deps, format, content);
  const stored: StoredImport = {
    ...newImport(deps, user, deps.ids.random(), { name, to }),
    status: "running",
    lease_until: deps.clock.now() + LEASE_MS,
  };
  await wakeAt(deps, stored.id, stored.lease_until);
  const title = page.title ?? name.slice(0, TITLE_MAX_LENGTH);
  const pages = [{ parent: null, title, content: page }];
  const options = { resolve: () => undefined, progress: async () => {} };
  let isWritten = false;
  let attached: StoredImport;
  try {
    const put = { op: "put", table: importsTable, item: stored, when: [["pk", "missing"]] } as const;
    const root = await writePages(deps, stored, pages, options, [put]);
    isWritten = true;
    attached = await attachImport(deps, user, stored, root);
  } catch (error) {
    // After other errors it is unknown what was committed: the timer finds out.
    if (error instanceof ApiError && (isWritten || (await isStored(deps, stored))))
      await failImport(deps, stored, error);
    throw error;
  }
  if (page.files.length > 0) await announceAttachments(deps, user, attached);
  await finishImport(deps, attached);
  const node = await readNode(deps, stored.document);
  if (node === undefined) throw documentNotFound();
  return { document: await resolveAccess(deps, user, node), skipped: toSkipped(page.skipped) };
}

const isStored = async ({ tables }: Pick<Ports, "tables">, { id }: StoredImport): Promise<boolean> =>
  (await tables.get(importsTable, importKey(id))) !== undefined;

const JOB_ID = "The ids of documents that are imported from an archive or a large file cannot be chosen.";

interface NewImport {
  readonly name: string;
  readonly to: { readonly parent: string | null; readonly id?: string | null | undefined };
}

function newImport(
  deps: Pick<Ports, "ids" | "clock">,
  user: StoredUser,
  id: string,
  { name, to }: NewImport,
): StoredImport {
  return {
    ...importKey(id),
    id,
    user: user.id,
    name,
    parent: to.parent,
    status: "pending",
    is_job: false,
    document: to.id ?? deps.ids.random(),
    documents: 1,
    attempt: 1,
    progress: 0,
    lease_until: 0,
    announced: 0,
    skipped: [],
    created_at: new Date(deps.clock.now()).toISOString(),
  };
}

async function startJob(
  deps: ImportDeps,
  user: StoredUser,
  id: string,
  made: NewImport,
): Promise<StoredImport> {
  const stored: StoredImport = { ...newImport(deps, user, id, made), is_job: true, documents: 0, attempt: 0 };
  // If the process dies before the message is sent, the timer sends one.
  await wakeAt(deps, id, deps.clock.now() + LEASE_MS);
  await deps.tables.write([{ op: "put", table: importsTable, item: stored }]);
  await deps.queues.send(IMPORTS_QUEUE, [{ body: JSON.stringify({ import_id: id }) }]);
  return stored;
}
