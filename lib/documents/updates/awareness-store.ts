import { hash } from "node:crypto";
import type { Ports } from "../../platform/ports.ts";
import { awarenessKey, awarenessTable, type StoredAwareness } from "../tables/awareness.ts";
import type { AwarenessState } from "./awareness-update.ts";

/** The state of a client, with who sent it. */
export interface OwnedState extends AwarenessState {
  /** Hashed: addresses of anonymous callers are not stored. */
  readonly owner: string;
}

/** Time after which a state that was not renewed is forgotten, milliseconds. Clients do the same. */
export const AWARENESS_EXPIRY_MS = 30_000;
/** Time after which DynamoDB may delete a row, seconds. */
const DELETED_AFTER_S = 120;
/** Rows of a document that are read, and expired ones from which on a reader deletes them. */
const ROWS_MAX = 500;
const EXPIRED_MAX = 25;

/** Awareness states in a table, for processes that share no memory. Choice: infra/decisions/0117. */
export class AwarenessStore {
  readonly #deps: Pick<Ports, "tables" | "clock">;

  constructor(deps: Pick<Ports, "tables" | "clock">) {
    this.#deps = deps;
  }

  /** The states of a document, with their age in milliseconds. */
  async read(document: string): Promise<readonly (OwnedState & { readonly ageMs: number })[]> {
    const { tables, clock } = this.#deps;
    const { items } = await tables.query(awarenessTable, { pk: document, limit: ROWS_MAX });
    const now = clock.now();
    const expired = items.filter(({ at }) => now - at >= AWARENESS_EXPIRY_MS);
    if (expired.length >= EXPIRED_MAX) await this.#delete(expired.slice(0, EXPIRED_MAX));
    return items.flatMap(({ sk, clock, state, owner, at }) => {
      const ageMs = Math.max(0, now - at);
      if (ageMs >= AWARENESS_EXPIRY_MS) return [];
      return [{ client: Number(sk), clock, state: JSON.parse(state) as OwnedState["state"], owner, ageMs }];
    });
  }

  async write(document: string, { client, clock, state, owner }: OwnedState): Promise<void> {
    const at = this.#deps.clock.now();
    const item: StoredAwareness = {
      ...awarenessKey(document, client),
      clock,
      state: JSON.stringify(state),
      owner,
      at,
      expires_at: Math.ceil(at / 1000) + DELETED_AFTER_S,
    };
    await this.#deps.tables.write([{ op: "put", table: awarenessTable, item }]);
  }

  async #delete(rows: readonly StoredAwareness[]): Promise<void> {
    const { tables } = this.#deps;
    await Promise.all(
      rows.map(({ pk, sk, at }) =>
        // A client may have renewed its state meanwhile.
        tables.write([{ op: "delete", table: awarenessTable, key: { pk, sk }, when: [["at", "=", at]] }]),
      ),
    );
  }
}

export const hashOwner = (owner: string): string => hash("sha256", owner, "base64url").slice(0, 22);
