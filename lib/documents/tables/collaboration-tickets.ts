import type { Key, TableSpec } from "../../platform/tables.ts";

/** A ticket for one connection to the collaboration server, by the hash of its secret. */
export interface StoredTicket extends Key {
  readonly document: string;
  /** Id of the user; null if anonymous. */
  readonly user: string | null;
  /** What the request for the ticket was authenticated with; null if anonymous. */
  readonly credential: string | null;
  /** ISO 8601. */
  readonly expires_at: string;
  /** Partition of the index: the first digit of the hash, so that no partition has all tickets. */
  readonly shard: string;
}

export const ticketsTable: TableSpec<StoredTicket> = {
  name: "collaboration-tickets",
  indexes: { expires: { pk: "shard", sk: "expires_at" } },
};
export const ticketKey = (hash: string): Key => ({ pk: hash, sk: "ticket" });
