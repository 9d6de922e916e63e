import * as z from "zod";
import {
  NODES,
  nodeKey,
  nodesTable,
  roomKey,
  roomsTable,
  type StoredNode,
} from "../documents/tables/room-leases.ts";
import { ApiError } from "../errors.ts";
import type { Ports } from "../platform/ports.ts";
import type { Write } from "../platform/tables.ts";
import { CONFLICT, retryOnConflict } from "../retry-on-conflict.ts";

/** A node that does not renew its lease loses its rooms after this time, milliseconds. */
export const NODE_LEASE_MS = 10_000;
const NODES_MAX = 100;
/** Documents of one request that a node has closed. */
export const CLOSED_MAX = 100;
/** Rooms of ended nodes that are deleted when a node starts, and how long ago the lease of a node must have ended. */
const CLEARED_MAX = 90;
const CLEARED_NODES_MAX = 5;
const CLEARED_AFTER_MS = 60_000;

const ADDRESS = /^(?:[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?|\[[0-9a-f:.]{2,45}\]):\d{1,5}$/i;

const document = z.guid().transform((id) => id.toLowerCase());

export const nodeBody = z.object({
  node: z.guid().describe("Chosen by the node; a new one after its lease has ended"),
  address: z
    .string()
    .max(300)
    .regex(ADDRESS, "must be a host and a port, such as 10.0.1.7:4444")
    .describe("Where other nodes reach it, such as 10.0.1.7:4444"),
  state: z
    .enum(["starting", "running", "stopping"])
    .describe("starting takes a lease, running renews it, stopping ends it"),
  closed: z.array(document).max(CLOSED_MAX).optional().describe("Documents that others may take now"),
});

/** The nodes whose leases last. */
export const nodesRecord = z
  .object({
    nodes: z.array(z.object({ node: z.string(), address: z.string() })),
    lease_seconds: z.int().describe("Time for which the lease lasts"),
  })
  .meta({ id: "CollaborationNodes" });

export const roomBody = z.object({
  document,
  node: z.guid().optional().describe("The node that takes the document, unless another one has it"),
});

/** Which node has a document open. */
export const roomRecord = z
  .object({
    node: z.string().nullable().describe("null if no node has it"),
    address: z.string().nullable(),
    fence: z.int().nullable().describe("Increases with each change of the node; part of the lease"),
  })
  .meta({ id: "CollaborationRoom" });

export type LeaseDeps = Pick<Ports, "tables" | "clock">;

/** Takes, renews or ends the lease of a node. Throws `not_found` if it has ended: others may have its rooms. */
export async function keepNode(
  deps: LeaseDeps,
  { node, address, state, closed = [] }: z.infer<typeof nodeBody>,
): Promise<z.infer<typeof nodesRecord>> {
  const { tables, clock } = deps;
  const now = clock.now();
  const expires_at = new Date(now + NODE_LEASE_MS).toISOString();
  const key = nodeKey(node);
  await Promise.all(closed.map((each) => deleteRoom(deps, each, node)));
  if (state === "starting") {
    const item: StoredNode = { ...key, address, expires_at, expires: NODES };
    // A repeated request finds its own row.
    await tables.write([{ op: "put", table: nodesTable, item, when: [["pk", "missing"]] }]);
    for (const other of await readNodes(deps))
      if (other.address === address && other.node !== node) await replaceNode(deps, other.node);
    await clearEndedNodes(deps);
  }
  const change =
    state === "stopping" ? { ended: true, expires_at: new Date(now).toISOString() } : { expires_at };
  const kept = await tables.update(nodesTable, key, { set: change }, [
    ["pk", "exists"],
    ["ended", "missing"],
  ]);
  if (kept === undefined && state !== "stopping") throw nodeEnded();
  return { nodes: await readNodes(deps), lease_seconds: NODE_LEASE_MS / 1000 };
}

/** Ends the lease of a process at whose address another one has started: it has died. */
async function replaceNode({ tables }: LeaseDeps, node: string): Promise<void> {
  const change = { set: { ended: true } };
  await tables.update(nodesTable, nodeKey(node), change, [["pk", "exists"]]);
}

async function readNodes({ tables, clock }: LeaseDeps): Promise<z.infer<typeof nodesRecord>["nodes"]> {
  const after = new Date(clock.now()).toISOString();
  const { items } = await tables.query(nodesTable, {
    index: "expires",
    pk: NODES,
    sk: { after },
    limit: NODES_MAX,
  });
  return items.filter(({ ended }) => ended !== true).map(({ pk, address }) => ({ node: pk, address }));
}

/** The owner of a room. With `node`, this node takes it, unless the lease of another one that has it lasts. */
export function findOrTakeRoom(
  deps: LeaseDeps,
  { document: id, node }: z.infer<typeof roomBody>,
): Promise<z.infer<typeof roomRecord>> {
  const { tables, clock } = deps;
  return retryOnConflict(
    async () => {
      const now = clock.now();
      const room = await tables.get(roomsTable, roomKey(id));
      const owner = room === undefined ? undefined : await tables.get(nodesTable, nodeKey(room.node));
      const isOwned = owner !== undefined && owner.ended !== true && Date.parse(owner.expires_at) > now;
      if (room !== undefined && isOwned)
        return { node: room.node, address: owner.address, fence: room.fence };
      if (node === undefined) return { node: null, address: null, fence: null };
      const taker = await tables.get(nodesTable, nodeKey(node));
      if (taker === undefined || taker.ended === true) throw nodeEnded();
      // Larger than the last one even if the room was deleted meanwhile.
      const fence = Math.max((room?.fence ?? 0) + 1, now);
      const outcome = await tables.write([
        {
          op: "check",
          table: nodesTable,
          key: nodeKey(node),
          when: [
            ["pk", "exists"],
            ["ended", "missing"],
          ],
        },
        {
          op: "put",
          table: roomsTable,
          item: { ...roomKey(id), node, fence },
          when:
            room === undefined
              ? [["pk", "missing"]]
              : [
                  ["node", "=", room.node],
                  ["fence", "=", room.fence],
                ],
        },
        ...(owner === undefined || owner.ended === true || owner.pk === node ? [] : [endNode(owner)]),
      ]);
      return outcome.ok ? { node, address: taker.address, fence } : CONFLICT;
    },
    { exceeded: () => new ApiError("conflict", "The room is being taken by others; try again") },
  );
}

/** The lease has expired: from now on it cannot be renewed. */
const endNode = ({ pk, sk, expires_at }: StoredNode): Write => ({
  op: "update",
  table: nodesTable,
  key: { pk, sk },
  change: { set: { ended: true } },
  when: [["expires_at", "=", expires_at]],
});

const nodeEnded = (): ApiError =>
  new ApiError("not_found", "The lease of the node has ended; others may have taken its rooms.");

async function deleteRoom({ tables }: LeaseDeps, id: string, node: string): Promise<void> {
  await tables.write([{ op: "delete", table: roomsTable, key: roomKey(id), when: [["node", "=", node]] }]);
}

/** Deletes nodes whose lease ended a while ago, and the rooms that nobody has taken from them. */
async function clearEndedNodes(deps: LeaseDeps): Promise<void> {
  const { tables, clock } = deps;
  const before = new Date(clock.now() - CLEARED_AFTER_MS).toISOString();
  const { items: nodes } = await tables.query(nodesTable, {
    index: "expires",
    pk: NODES,
    sk: { before },
    limit: CLEARED_NODES_MAX,
  });
  for (const { pk: node, sk, expires_at } of nodes) {
    const { items: rooms } = await tables.query(roomsTable, { index: "node", pk: node, limit: CLEARED_MAX });
    const outcome = await tables.write([
      ...(rooms.length < CLEARED_MAX
        ? [
            {
              op: "delete" as const,
              table: nodesTable,
              key: { pk: node, sk },
              when: [["expires_at", "=", expires_at] as const],
            },
          ]
        : []),
      ...rooms.map(({ pk }) => ({
        op: "delete" as const,
        table: roomsTable,
        key: roomKey(pk),
        when: [["node", "=", node] as const],
      })),
    ]);
    if (!outcome.ok) return;
  }
}
