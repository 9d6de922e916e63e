import { randomUUID } from "node:crypto";
import type { DocumentDeps } from "../../lib/app/compose.ts";
import { NODES, nodeKey, nodesTable, roomKey, roomsTable } from "../../lib/documents/tables/room-leases.ts";
import type { Client } from "./test-tour-client.ts";

const COLLABORATION = "/api/v1.0/collaboration";

/** The processes of a separate collaboration server, and their rooms. `server` has the key of that server. */
export async function tourLeases(
  server: Client,
  { tables }: DocumentDeps,
  document: string,
  updates: readonly string[],
): Promise<void> {
  const [first, second, gone] = [randomUUID(), randomUUID(), randomUUID()];
  const keep = (node: string, more: object) =>
    server.send("POST", `${COLLABORATION}/nodes`, { node, address: `${node}:4444`, ...more });
  const take = (node: string) =>
    server.send<{ node: string; fence: number }>("POST", `${COLLABORATION}/rooms`, { document, node });
  await tables.write([
    {
      op: "put",
      table: nodesTable,
      item: { ...nodeKey(gone), address: "10.0.0.9:4444", expires_at: "2000-01-01", expires: NODES },
    },
    { op: "put", table: roomsTable, item: { ...roomKey(randomUUID()), node: gone, fence: 1 } },
  ]);
  for (const node of [first, second]) await keep(node, { state: "starting" });
  await take(first);
  await tables.update(nodesTable, nodeKey(first), { set: { expires_at: "2000-01-01" } });
  const lease = await take(second);
  for (const update of updates)
    await server.status(`${COLLABORATION}/documents/${document}/updates`, { updates: [update], lease });
  await keep(second, { state: "running", closed: [document] });
  await keep(second, { state: "stopping" });
}
