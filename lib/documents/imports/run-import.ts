import { ApiError } from "../../errors.ts";
import { derivedId } from "../../platform/ids.ts";
import { importKey, importsTable, type StoredImport } from "../tables/imports.ts";
import { findUser } from "../users/users.ts";
import { announceAttachments } from "./announce.ts";
import { discardImport } from "./discard.ts";
import {
  failImport,
  finishImport,
  forgetImport,
  type ImportMessage,
  LEASE_MS,
  planChange,
  SupersededError,
  wakeAt,
} from "./import-state.ts";
import { type ArchiveDeps, importStored, removeTemporary } from "./import-stored.ts";

const ATTEMPTS_MAX = 5;
/** Errors that another attempt would meet again. */
const FINAL: ReadonlySet<string> = new Set([
  "bad_request",
  "unauthorized",
  "forbidden",
  "not_found",
  "payload_too_large",
  "bad_gateway",
]);

/**
 * Runs the job of an import, continues one that was interrupted, or removes what a crash has left. May be repeated, and
 * called while another process works on the import. Rejects if another attempt may succeed.
 */
export async function runImport(deps: ArchiveDeps, { import_id: id }: ImportMessage): Promise<void> {
  const stored = await deps.tables.get(importsTable, importKey(id));
  if (stored === undefined) return forgetImport(deps, id);
  const isWaiting = stored.lease_until > deps.clock.now();
  if (isWaiting) return wakeAt(deps, id, stored.lease_until);
  if (stored.status === "succeeded" || stored.status === "failed") return forgetImport(deps, id);
  await removeTemporary(stored);
  const user = await findUser(deps, stored.user);
  if (stored.status === "attached") {
    if (user !== undefined) await announceAttachments(deps, user, stored);
    return finishImport(deps, stored);
  }
  if (!stored.is_job || stored.attempt >= ATTEMPTS_MAX || user?.is_active !== true)
    return failImport(deps, stored, new ApiError("conflict", "The import was interrupted too often."));
  await discardImport(deps, stored);
  const running = await begin(deps, stored);
  if (running === undefined) return;
  let attached: StoredImport;
  try {
    attached = await importStored(deps, user, running);
  } catch (error) {
    if (error instanceof SupersededError) return;
    const isFinal = error instanceof ApiError && FINAL.has(error.code);
    const now = (await deps.tables.get(importsTable, importKey(id))) ?? running;
    if (now.attempt !== running.attempt || now.status !== "running") throw error;
    if (isFinal || now.attempt >= ATTEMPTS_MAX) return failImport(deps, now, error);
    await deps.tables.write([planChange(now, { set: { lease_until: 0 } })]);
    throw error;
  }
  await announceAttachments(deps, user, attached);
  await finishImport(deps, attached);
}

/** Begins the next attempt; undefined if another process has. */
async function begin(deps: ArchiveDeps, stored: StoredImport): Promise<StoredImport | undefined> {
  const attempt = stored.attempt + 1;
  const set = {
    attempt,
    status: "running",
    document: derivedId(stored.id, String(attempt), "0"),
    documents: 0,
    progress: 0,
    lease_until: deps.clock.now() + LEASE_MS,
  } as const;
  await wakeAt(deps, stored.id, set.lease_until);
  const outcome = await deps.tables.write([planChange(stored, { set })]);
  return outcome.ok ? { ...stored, ...set } : undefined;
}
