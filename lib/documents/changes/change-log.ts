import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { relationsTable } from "../tables/accesses.ts";
import { type ChangeRow, changesTable, countKey, countsTable } from "../tables/changes.ts";
import { documentsTable } from "../tables/documents.ts";

type ChangeDeps = Pick<Ports, "ids" | "tables">;

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

/** Attributes that the access to a document and to those below it depends on. */
const ACCESS = new Set(["link_reach", "link_role", "creator", "deleted_at", "parent", "pending_move"]);

/** The most writes of a change row. */
export const CHANGE_ROW_WRITES_MAX = 2;

/**
 * Appends a change row to a transaction that changes documents or relations. Every such transaction must call this
 * once.
 */
export function withChangeRow(deps: ChangeDeps, writes: readonly Write[]): readonly Write[] {
  const documents = new Set<string>();
  const access = new Set<string>();
  const relations: [string, string][] = [];
  for (const write of writes) {
    if (write.op === "check") continue;
    const { pk, sk } = write.op === "put" ? write.item : write.key;
    if (write.table.name === relationsTable.name) relations.push([pk, sk]);
    else if (write.table.name === documentsTable.name && changesAny(write, LISTED)) {
      documents.add(pk);
      if (changesAny(write, ACCESS)) access.add(pk);
    }
  }
  if (documents.size === 0 && relations.length === 0) return writes;
  return [...writes, ...changeRow(deps, { documents: [...documents], access: [...access], relations })];
}

/** The change row of a transaction that ends a session or token of a user, so that open connections are closed. */
export const credentialsEnded = (deps: ChangeDeps, user: string): readonly Write[] =>
  changeRow(deps, { documents: [], relations: [], users: [user] });

function changeRow({ ids, tables }: ChangeDeps, changed: Omit<ChangeRow, "pk" | "sk">): Write[] {
  const id = ids.ordered();
  const shard = id.slice(-1);
  const row: ChangeRow = { pk: shard, sk: id, ...changed };
  return [
    { op: "put", table: changesTable, item: row },
    {
      op: "update",
      table: countsTable,
      key: countKey(tables, row),
      change: { add: { count: 1 } },
    },
  ];
}

function changesAny(write: Write, attributes: ReadonlySet<string>): boolean {
  if (write.op !== "update") return true;
  const { set = {}, setIfMissing = {}, remove = [] } = write.change;
  return [...Object.keys(set), ...Object.keys(setIfMissing), ...remove].some((name) => attributes.has(name));
}
