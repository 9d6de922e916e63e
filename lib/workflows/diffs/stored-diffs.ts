import * as z from "zod";
import { readAll } from "../../events/read-all.ts";
import type { Listing, PageRequest } from "../../http/page.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { countersTable } from "../lists/table.ts";
import { computeDiff, type DiffDeps, type DiffKind, type diffQuery } from "./compute-diff.ts";
import { diffBlob, diffKey, diffsTable, type StoredDiff } from "./table.ts";

/** Maximum number of stored diffs per kind; a new one replaces the oldest. */
const KEPT_MAX = 1_000;
/** Maximum number of JSON characters of records in a stored diff. */
const KEPT_MAX_LENGTH = 300_000;

/** A stored diff in responses. Reference 1.6, GET /assets/diffs. */
export const storedDiff = z
  .object({
    id: z.int(),
    workspace_name: z.string(),
    from_time: z.string(),
    to_time: z.string(),
    total_added: z.int(),
    total_removed: z.int(),
    total_changed: z.int(),
    diff_data: z.string().describe("JSON text of the diff, cut at about 300 KB"),
    created_at: z.string(),
  })
  .meta({ id: "KeptDiff" });

export type StoredDiffRecord = z.infer<typeof storedDiff>;

/** Computes a diff and stores it. Throws `bad_request`. */
export async function createDiff(
  deps: DiffDeps & Pick<Ports, "tables" | "blobs">,
  kind: DiffKind,
  query: z.infer<typeof diffQuery>,
): Promise<StoredDiffRecord> {
  const diff = await computeDiff(deps, kind, query, KEPT_MAX_LENGTH);
  const counter = { pk: `diffs-${kind}`, sk: "next" };
  const counted = await deps.tables.update(countersTable, counter, { add: { next: 1 } });
  const id = counted?.next ?? 1;
  const { workspace_name, from_time, to_time, summary } = diff;
  const created_at = new Date(deps.clock.now()).toISOString();
  const row = { id, workspace_name, from_time, to_time, ...summary, created_at };
  const diff_data = JSON.stringify(diff);
  // The blob is written before the row, so that every row has its blob.
  await deps.blobs.put(diffBlob(kind, id), diff_data);
  const writes: Write[] = [{ op: "put", table: diffsTable, item: { ...diffKey(kind, id), ...row } }];
  const oldest = id - KEPT_MAX;
  if (oldest > 0) writes.push({ op: "delete", table: diffsTable, key: diffKey(kind, oldest) });
  await deps.tables.write(writes);
  if (oldest > 0) await deps.blobs.delete([diffBlob(kind, oldest)]);
  return { ...row, diff_data };
}

/** The stored diffs of a kind, newest first. */
export async function listDiffs(
  deps: Pick<Ports, "tables" | "blobs">,
  kind: DiffKind,
  workspace: string | undefined,
  { offset, limit }: PageRequest,
): Promise<Listing<StoredDiffRecord>> {
  const rows = (await readAll(deps, diffsTable, { pk: kind, reverse: true })).filter(
    ({ workspace_name }) => workspace === undefined || workspace_name === workspace,
  );
  return { total: rows.length, items: withData(deps, kind, rows.slice(offset, offset + limit)) };
}

/** Loads one diff at a time, so that a long response is never held in memory. */
async function* withData(
  { blobs }: Pick<Ports, "blobs">,
  kind: DiffKind,
  rows: readonly StoredDiff[],
): AsyncGenerator<StoredDiffRecord[]> {
  for (const { pk: _pk, sk: _sk, ...row } of rows) {
    const bytes = await blobs.get(diffBlob(kind, row.id));
    // A newer diff has replaced it meanwhile.
    yield [{ ...row, diff_data: bytes === undefined ? "" : Buffer.from(bytes).toString("utf8") }];
  }
}
