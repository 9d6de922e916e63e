import { hash } from "node:crypto";

const REMEMBERED_MAX = 300;
/** Longest update whose bytes are its key, which costs less than a hash. */
const KEY_MAX_BYTES = 256;

/** The last updates of a log, which are not appended again if a client repeats a request. */
export class RecentUpdates {
  /** Positions by key, the oldest first. */
  readonly #positions = new Map<string, number>();

  positionOf(key: string): number | undefined {
    return this.#positions.get(key);
  }

  add(key: string, position: number): void {
    this.#positions.set(key, position);
    if (this.#positions.size <= REMEMBERED_MAX) return;
    const [oldest = ""] = this.#positions.keys();
    this.#positions.delete(oldest);
  }
}

/** A key that only equal updates share. */
export function repetitionKey(update: Uint8Array): string {
  if (update.length > KEY_MAX_BYTES) return hash("sha256", update, "base64");
  return Buffer.from(update.buffer, update.byteOffset, update.length).toString("latin1");
}
