import { ApiError, ERROR_STATUS } from "../../errors.ts";
import { authorize } from "../authorization/document-access.ts";
import { exportBlob, exportKey, exportsTable, type StoredExport } from "../tables/exports.ts";
import type { StoredUser } from "../tables/users.ts";
import { findUser, type UserDeps } from "../users/users.ts";
import { type ExportDeps, exportDocument } from "./export-document.ts";
import type { ExportMessage } from "./export-jobs.ts";
import { listPages } from "./exported-pages.ts";
import { storedFormat } from "./formats.ts";
import { readOwnData } from "./own-data.ts";
import { writeArchive } from "./write-archive.ts";

/** After so many interrupted attempts an export has failed. */
const ATTEMPTS_MAX = 3;
/** Time between two notes of the progress, milliseconds. */
const PROGRESS_MS = 1_000;

type RunDeps = ExportDeps & UserDeps;

/**
 * Writes an export, or removes one that has expired. It may run twice: the second run replaces the file by the same. A
 * file that was not completed does not exist.
 */
export async function runExport(
  deps: RunDeps,
  { export_id: id, expired }: ExportMessage,
  signal: AbortSignal,
): Promise<void> {
  const { tables, blobs } = deps;
  if (expired === true) {
    await blobs.delete([exportBlob(id)]);
    await tables.write([{ op: "delete", table: exportsTable, key: exportKey(id) }]);
    return;
  }
  const active = await tables.get(exportsTable, exportKey(id));
  if (active === undefined || active.status === "done" || active.status === "failed") return;
  if (active.attempts >= ATTEMPTS_MAX) return fail(deps, id, "The export failed.");
  await update(deps, id, { status: "running", attempts: active.attempts + 1 });
  try {
    const bytes = await write(deps, active, signal);
    const isNoted = await update(deps, id, { status: "done", bytes });
    // It has expired in the meantime.
    if (!isNoted) await blobs.delete([exportBlob(id)]);
  } catch (error) {
    // This installation cannot write exports; nothing changes with time.
    const isFinal =
      error instanceof ApiError && (ERROR_STATUS[error.code] < 500 || error.code === "unavailable");
    if (!isFinal) throw error;
    await fail(deps, id, error.message);
  }
}

async function write(deps: RunDeps, active: StoredExport, signal: AbortSignal): Promise<number> {
  const { clock, blobs } = deps;
  const { id, document, base_url: baseUrl } = active;
  const user = await findUser(deps, active.user);
  if (user?.is_active !== true) throw new ApiError("forbidden", "The user is not active.");
  const format = storedFormat(active);
  if (document !== null && format !== undefined) {
    const options = { format, hasComments: active.comments === true, baseUrl };
    await update(deps, id, { done: 0, total: 1 });
    const exported = await exportDocument(deps, user, document, options);
    if (exported === undefined) throw new TypeError("a job exports documents of any size");
    await blobs.put(exportBlob(id), exported.bytes);
    await update(deps, id, { done: 1 });
    return exported.bytes.length;
  }
  const { roots, files } = await contentOf(deps, user, document);
  const pages = await listPages(deps, roots);
  await update(deps, id, { done: 0, total: pages.length });
  let notedAt = clock.now();
  const onPage = async (done: number): Promise<void> => {
    if (done < pages.length && clock.now() - notedAt < PROGRESS_MS) return;
    notedAt = clock.now();
    if (!(await update(deps, id, { done }))) throw new ApiError("not_found", "The export has expired.");
  };
  return blobs.putStream(
    exportBlob(id),
    writeArchive(deps, user, { pages, others: files, baseUrl, signal, onPage }),
  );
}

const contentOf = async (deps: RunDeps, user: StoredUser, document: string | null) =>
  document === null
    ? readOwnData(deps, user)
    : {
        roots: [await authorize(deps, user, document, "content_retrieve")],
        files: new Map<string, string>(),
      };

/** False if the export does not exist any more. */
async function update({ tables }: RunDeps, id: string, set: Partial<StoredExport>): Promise<boolean> {
  const updated = await tables.update(
    exportsTable,
    exportKey(id),
    { set: set as Record<string, string | number> },
    [["pk", "exists"]],
  );
  return updated !== undefined;
}

async function fail(deps: RunDeps, id: string, error: string): Promise<void> {
  await update(deps, id, { status: "failed", error });
}
