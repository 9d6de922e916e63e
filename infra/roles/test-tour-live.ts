import { Awareness, encodeAwarenessUpdate } from "y-protocols/awareness";
import * as Y from "yjs";
import type { Deps } from "../../lib/app/compose.ts";
import { awarenessKey, awarenessTable, type StoredAwareness } from "../../lib/documents/tables/awareness.ts";
import {
  CHANGE_COUNTS,
  type ChangeRow,
  changesTable,
  countsTable,
} from "../../lib/documents/tables/changes.ts";
import type { Write } from "../../lib/platform/tables.ts";
import type { Client } from "./test-tour-client.ts";

const BASE = "/api/v1.0";
/** More than a reader leaves behind. */
const EXPIRED_STATES = 30;
/** As many changes as cause old ones to be deleted. */
const CHANGES = 300;
const WRITES_MAX = 100;
const LONG_AGO_MS = 2 * 60 * 60 * 1000;

/** Cursors, and the changes that a separate collaboration server follows. */
export async function tourCursorsAndChanges(
  client: Client,
  { server, outside }: { readonly server: Client; readonly outside: Deps },
  id: string,
): Promise<void> {
  const path = `${BASE}/documents/${id}/updates`;
  await server.send("GET", `${BASE}/collaboration/changes`);
  await server.send("GET", `${BASE}/collaboration/changes?shard=0&since=0`);
  await server.send("POST", `${BASE}/collaboration/access-states`, { documents: [id] });
  const awareness = cursor();
  await client.send("POST", path, { awareness });
  await server.send("POST", `${BASE}/collaboration/documents/${id}/updates`, { awareness });
  await createExpiredStates(outside, id);
  await client.send("GET", path);
  await client.send("GET", `${BASE}/documents`);
  await createManyChanges(outside);
  await client.send("GET", `${BASE}/documents`);
}

function cursor(): string {
  const awareness = new Awareness(new Y.Doc());
  awareness.setLocalState({ cursor: 1 });
  const update = encodeAwarenessUpdate(awareness, [awareness.clientID]);
  awareness.destroy();
  return Buffer.from(update).toString("base64");
}

async function createExpiredStates({ tables }: Deps, id: string): Promise<void> {
  const states = Array.from({ length: EXPIRED_STATES }, (_, client): StoredAwareness => {
    return { ...awarenessKey(id, client), clock: 1, state: "{}", owner: "nobody", at: 0, expires_at: 1 };
  });
  await tables.write(states.map((item) => ({ op: "put", table: awarenessTable, item })));
}

/** Also an old change, which the next reader deletes. */
async function createManyChanges({ tables, ids, clock }: Deps): Promise<void> {
  const [pk, nothing] = ["0", { documents: [], relations: [] }];
  const put = (sk: string): Write => ({
    op: "put",
    table: changesTable,
    item: { pk, sk, ...nothing } satisfies ChangeRow,
  });
  const digits = (clock.now() - LONG_AGO_MS).toString(16).padStart(12, "0");
  await tables.write([put(`${digits.slice(0, 8)}-${digits.slice(8)}-old`)]);
  for (let count = 0; count < CHANGES; count += WRITES_MAX)
    await tables.write(Array.from({ length: WRITES_MAX }, () => put(ids.ordered())));
  await tables.write([
    {
      op: "update",
      table: countsTable,
      key: { pk: CHANGE_COUNTS, sk: pk },
      change: { add: { count: CHANGES } },
    },
  ]);
}
