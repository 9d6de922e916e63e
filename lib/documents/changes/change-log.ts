import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { relationsTable } from "../tables/accesses.ts";
import { CHANGE_COUNTS, type ChangeRow, changesTable, countsTable } from "../tables/changes.ts";
import { documentsTable } from "../tables/documents.ts";

/** Attributes that lists and open connections use. Changes of other attributes write no change row. */
const LISTED = new Set([
  "title",
  "link_reach",
  "link_role",
  "creator",
  "created_at",
  "updated_at",
  "deleted_at",
  "parent",
  "order",
]);

/**
 * Appends a change row to a transaction that changes documents or relations: at most two more writes. Every such
 * transaction must call this once.
 */
export function withChangeRow({ ids }: Pick<Ports, "ids">, writes: readonly Write[]): readonly Write[] {
  const documents = new Set<string>();
  const relations: [string, string][] = [];
  for (const write of writes) {
    if (write.op === "check") continue;
    const { pk, sk } = write.op === "put" ? write.item : write.key;
    if (write.table.name === relationsTable.name) relations.push([pk, sk]);
    else if (write.table.name === documentsTable.name && changesLists(write)) documents.add(pk);
  }
  if (documents.size === 0 && relations.length === 0) return writes;
  return [...writes, ...changeRow({ ids }, { documents: [...documents], relations })];
}

/** The change row of a transaction that ends a session or token of a user, so that open connections are closed. */
export const credentialsEnded = (deps: Pick<Ports, "ids">, user: string): readonly Write[] =>
  changeRow(deps, { documents: [], relations: [], users: [user] });

function changeRow({ ids }: Pick<Ports, "ids">, changed: Omit<ChangeRow, "pk" | "sk">): Write[] {
  const id = ids.ordered();
  const shard = id.slice(-1);
  const row: ChangeRow = { pk: shard, sk: id, ...changed };
  return [
    { op: "put", table: changesTable, item: row },
    {
      op: "update",
      table: countsTable,
      key: { pk: CHANGE_COUNTS, sk: shard },
      change: { add: { count: 1 } },
    },
  ];
}

function changesLists(write: Write): boolean {
  if (write.op !== "update") return true;
  const { set = {}, setIfMissing = {}, remove = [] } = write.change;
  return [...Object.keys(set), ...Object.keys(setIfMissing), ...remove].some((name) => LISTED.has(name));
}
