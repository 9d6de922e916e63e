import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { type RoomLease, roomKey, roomsTable } from "../tables/room-leases.ts";

/** The condition that an append with a lease commits with: no paused owner appends after others have taken its room. */
export const leaseCheck = (document: string, lease: RoomLease | undefined): Write[] =>
  lease === undefined
    ? []
    : [
        {
          op: "check",
          table: roomsTable,
          key: roomKey(document),
          when: [
            ["node", "=", lease.node],
            ["fence", "=", lease.fence],
          ],
        },
      ];

/** Throws `conflict` if the room has another lease. */
export async function checkLease(
  { tables }: Pick<Ports, "tables">,
  document: string,
  lease: RoomLease | undefined,
): Promise<void> {
  if (lease === undefined) return;
  const room = await tables.get(roomsTable, roomKey(document));
  if (!isSameLease(room, lease)) throw leaseLost();
}

export const isSameLease = (one: RoomLease | undefined, other: RoomLease | undefined): boolean =>
  one?.node === other?.node && one?.fence === other?.fence;

const LOST = "Another node of the collaboration server has the room now.";

export const leaseLost = (): ApiError =>
  new ApiError("conflict", LOST, { body: { detail: LOST, lease: "lost" } });
