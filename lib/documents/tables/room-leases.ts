import type { Key, TableSpec } from "../../platform/tables.ts";

/** A process of a separate collaboration server. While its lease lasts, no other node takes its rooms. */
export interface StoredNode extends Key {
  /** Where other nodes reach it, `host:port`. */
  readonly address: string;
  /** When its lease ends unless it is renewed, ISO 8601. */
  readonly expires_at: string;
  /** Constant: the partition of the index. */
  readonly expires: typeof NODES;
  /** The lease has ended and cannot be renewed: others may have taken its rooms. */
  readonly ended?: true;
}

export const NODES = "1";

export const nodesTable: TableSpec<StoredNode> = {
  name: "collaboration-nodes",
  indexes: { expires: { pk: "expires", sk: "expires_at" } },
};
export const nodeKey = (node: string): Key => ({ pk: node, sk: "node" });

/** What an owner sends with each append, so that it appends only while it is the owner. */
export interface RoomLease {
  /** Id of the node. */
  readonly node: string;
  /** Increases with each change of owner; the room of a document that no node had begins at the current time. */
  readonly fence: number;
}

/** The owner of a document's room, by the document. */
export interface StoredRoom extends Key, RoomLease {}

export const roomsTable: TableSpec<StoredRoom> = {
  name: "collaboration-rooms",
  indexes: { node: { pk: "node", sk: "pk" } },
};
export const roomKey = (document: string): Key => ({ pk: document, sk: "room" });
