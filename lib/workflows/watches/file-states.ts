import type { Stats } from "node:fs";
import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Key, Write } from "../../platform/tables.ts";
import { filesPartition, type TriggerState, triggerStateTable } from "../store/trigger-tables.ts";

/** Key of the item that stores the path of the first scan; no file path starts with it. */
const FIRST_LOOK = "#first-look";
const WRITTEN_AT_ONCE = 100;

/** Modification time and size of a file: another stamp means other content. */
export const stampOf = ({ mtimeMs, size }: Pick<Stats, "mtimeMs" | "size">): string => `${mtimeMs}:${size}`;

/** The stored states of a watch's files. */
export interface FileStates {
  /** False before the first scan of this path: files that exist then fire nothing. */
  readonly isKnown: boolean;
  readonly files: ReadonlyMap<string, TriggerState>;
}

export async function readFileStates(
  deps: Pick<Ports, "tables">,
  scheduleId: string,
  path: string,
): Promise<FileStates> {
  const items = await readAll(deps, triggerStateTable, { pk: filesPartition(scheduleId) });
  const first = items.find(({ sk }) => sk === FIRST_LOOK);
  const files = new Map(items.filter(({ sk }) => sk !== FIRST_LOOK).map((item) => [item.sk, item]));
  return { isKnown: first?.stamp === path, files };
}

/** Stores the files of the first scan, and then that the scan is complete. */
export async function storeInitialStates(
  deps: Pick<Ports, "tables">,
  scheduleId: string,
  path: string,
  stamps: ReadonlyMap<string, string>,
): Promise<void> {
  const writes = [...stamps].map(
    ([file, stamp]): Write => ({
      op: "put",
      table: triggerStateTable,
      item: { ...fileStateKey(scheduleId, file), stamp },
    }),
  );
  await writeAll(deps, writes);
  const item = { ...fileStateKey(scheduleId, FIRST_LOOK), stamp: path };
  await deps.tables.write([{ op: "put", table: triggerStateTable, item }]);
}

/** Deletes the states of deleted files. */
export async function deleteFileStates(
  deps: Pick<Ports, "tables">,
  scheduleId: string,
  files: readonly string[],
): Promise<void> {
  await writeAll(
    deps,
    files.map((file) => forgetting(fileStateKey(scheduleId, file))),
  );
}

/** Deletes all states: files that exist when the trigger is enabled again fire nothing. */
export async function deleteAllFileStates(deps: Pick<Ports, "tables">, scheduleId: string): Promise<void> {
  const items = await readAll(deps, triggerStateTable, { pk: filesPartition(scheduleId) });
  // The scan's item goes first: if this is interrupted, the next scan starts over.
  const ordered = items.toSorted((one, other) => rank(other) - rank(one));
  await writeAll(
    deps,
    ordered.map(({ pk, sk }) => forgetting({ pk, sk })),
  );
}

const rank = ({ sk }: Key): number => (sk === FIRST_LOOK ? 1 : 0);

const forgetting = (key: Key): Write => ({ op: "delete", table: triggerStateTable, key });

async function writeAll(deps: Pick<Ports, "tables">, writes: readonly Write[]): Promise<void> {
  for (let start = 0; start < writes.length; start += WRITTEN_AT_ONCE)
    await deps.tables.write(writes.slice(start, start + WRITTEN_AT_ONCE));
}

/** Claims a change of a file; the condition fails if another process claimed it first. */
export function fileStateWrite(
  scheduleId: string,
  file: string,
  before: TriggerState | undefined,
  after: Pick<TriggerState, "stamp" | "run_id" | "hop" | "root_cause">,
): Write {
  const item: TriggerState = { ...fileStateKey(scheduleId, file), ...after };
  return {
    op: "put",
    table: triggerStateTable,
    item,
    when: before?.stamp === undefined ? [["pk", "missing"]] : [["stamp", "=", before.stamp]],
  };
}

export const fileStateKey = (scheduleId: string, file: string): Key => ({
  pk: filesPartition(scheduleId),
  sk: file,
});
