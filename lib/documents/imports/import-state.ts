import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Change, Write } from "../../platform/tables.ts";
import type { CommitDeps } from "../changes/commit.ts";
import { importBlob, importKey, importsTable, type StoredImport } from "../tables/imports.ts";
import { discardImport } from "./discard.ts";

export type StateDeps = CommitDeps & Pick<Ports, "blobs" | "timers" | "clock" | "log">;

/** The queue of the consumer that imports files, and repairs what a crash interrupted. */
export const IMPORTS_QUEUE = "imports";

export interface ImportMessage {
  readonly import_id: string;
}

/** Time after which nobody works on an import any more that has not renewed it, milliseconds. */
export const LEASE_MS = 60_000;
/** How long a job is kept after its end, milliseconds. */
const KEPT_MS = 7 * 24 * 60 * 60_000;
const SKIPPED_MAX = 200;
const SKIPPED_LENGTH_MAX = 300;

/** The attempt was interrupted, and another one has begun. */
export class SupersededError extends Error {}

/** Sets the time at which the consumer looks after an import. */
export const wakeAt = ({ timers }: Pick<Ports, "timers">, id: string, at: number): Promise<void> =>
  timers.set(`imports:${id}`, at, IMPORTS_QUEUE, {
    body: JSON.stringify({ import_id: id } satisfies ImportMessage),
  });

/** The change of an import that no other attempt has begun in the meantime. */
export const planChange = ({ id, attempt, status }: StoredImport, change: Change): Write => ({
  op: "update",
  table: importsTable,
  key: importKey(id),
  change,
  when: [
    ["attempt", "=", attempt],
    ["status", "=", status],
  ],
});

/** Renews the lease of an import and records its progress. Throws SupersededError. */
export async function renew(deps: StateDeps, stored: StoredImport, progress: number): Promise<void> {
  const until = deps.clock.now() + LEASE_MS;
  const outcome = await deps.tables.write([planChange(stored, { set: { progress, lease_until: until } })]);
  if (!outcome.ok) throw new SupersededError();
}

/** Removes an import that is answered at once, or keeps the result of a job for some days. */
export const finishImport = (deps: StateDeps, stored: StoredImport): Promise<void> =>
  endImport(deps, stored, { status: "succeeded", progress: 1 });

/** Removes what an import has written. A job keeps the reason for some days. */
export async function failImport(deps: StateDeps, stored: StoredImport, error: unknown): Promise<void> {
  await discardImport(deps, stored);
  await endImport(deps, stored, { status: "failed", error: messageOf(error) });
}

async function endImport(
  deps: StateDeps,
  stored: StoredImport,
  end: Readonly<Record<string, string | number>>,
): Promise<void> {
  const { id } = stored;
  if (!stored.is_job) {
    await forgetImport(deps, id);
    await deps.timers.cancel(`imports:${id}`);
    return;
  }
  const until = deps.clock.now() + KEPT_MS;
  await wakeAt(deps, id, until);
  // If the process dies in between, the file is not needed to end the import.
  await deps.blobs.delete([importBlob(id)]);
  await deps.tables.write([planChange(stored, { set: { ...end, lease_until: until } })]);
}

/** Deletes an import that has ended, and the file of one that has not begun. */
export async function forgetImport(
  { tables, blobs }: Pick<StateDeps, "tables" | "blobs">,
  id: string,
): Promise<void> {
  await tables.write([{ op: "delete", table: importsTable, key: importKey(id) }]);
  await blobs.delete([importBlob(id)]);
}

/** The message of an error for the user: of a field, if it is one of a field. */
function messageOf(error: unknown): string {
  if (!(error instanceof ApiError)) return "The import failed.";
  const { body } = error as { readonly body: unknown };
  const [first] = Object.values((body ?? {}) as Record<string, unknown>);
  return Array.isArray(first) ? String(first[0]) : error.message;
}

/** The messages on what was left out, as they are stored. */
export function toSkipped(messages: readonly string[]): string[] {
  const short = messages.slice(0, SKIPPED_MAX).map((one) => one.slice(0, SKIPPED_LENGTH_MAX).toWellFormed());
  const more = messages.length - short.length;
  return more > 0 ? [...short, `${more} more`] : short;
}
