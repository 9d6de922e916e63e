import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { documentKey, documentsTable } from "../tree/table.ts";
import type { Role } from "./roles.ts";
import {
  accessesTable,
  accessId,
  accessKey,
  relationKey,
  relationsTable,
  type StoredAccess,
} from "./table.ts";

/** The access that a user gets on a new document, along with which it is written: the document counts it itself. */
export function planFirstAccess(
  { clock }: Pick<Ports, "clock">,
  document: string,
  user: string,
  role: Role,
): Write[] {
  const since = new Date(clock.now()).toISOString();
  const id = accessId(document, { user });
  const item: StoredAccess = {
    ...{ ...accessKey(document, id), id, document, user, team: null, role },
    ...{ created_at: since, revision: 1 },
  };
  return [
    { op: "put", table: accessesTable, item, when: [["pk", "missing"]] },
    {
      op: "update",
      table: relationsTable,
      key: relationKey(user, document),
      change: { set: { document, role, since } },
    },
  ];
}

/** Keeps how many rows of access a document has, and how many of them are owners'. */
export function countAccesses(document: string, accesses: number, owners: number): Write {
  const add = { ...(accesses === 0 ? {} : { accesses }), ...(owners === 0 ? {} : { owners }) };
  return {
    op: "update",
    table: documentsTable,
    key: documentKey(document),
    change: { add },
    when: [["pk", "exists"]],
  };
}
