import { decodeStateVector, parseUpdateMeta } from "yjs";
import { type MessageHead, SYNC } from "./message-type.ts";

/**
 * Finds updates that a client repeats in its first sync. The stock provider sends edits made before the connection
 * twice: one by one when the server first responds, and together in step 2. It counts only the second, so an
 * acknowledgement of the first would make it report changes as saved that are not. They are left out.
 */
export class FirstSync {
  /** What the client had when it began to sync; undefined before, and when it has sent that. */
  #known: ReadonlyMap<number, number> | undefined;

  /** Whether a message is an update that step 2 will contain. */
  isRepeated({ sync, payload }: MessageHead): boolean {
    if (payload === undefined) return false;
    try {
      if (sync === SYNC.step1) this.#known = decodeStateVector(payload);
      else if (sync === SYNC.step2) this.#known = undefined;
      else if (sync === SYNC.update && this.#known !== undefined) return isCovered(payload, this.#known);
    } catch {
      // A malformed message is refused where it is handled.
    }
    return false;
  }
}

function isCovered(update: Uint8Array, known: ReadonlyMap<number, number>): boolean {
  const { to } = parseUpdateMeta(update);
  return to.size > 0 && [...to].every(([client, clock]) => clock <= (known.get(client) ?? 0));
}
