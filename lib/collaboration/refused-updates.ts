import { SYNC } from "./message-type.ts";

/**
 * Counts the updates of a connection that were refused while its client might not write. The client counts each, and its
 * first sync, as not synced, and takes one off with each acknowledgement. When it may write again, it sends everything
 * that was refused as one step 2, which needs as many acknowledgements: with fewer it would never show the changes as
 * saved, with more it would show later ones too early.
 */
export class RefusedUpdates {
  #count = 0;
  #hasSynced = false;
  #isAsked = false;

  /** Called for a message that is refused. */
  refuse(type: number): void {
    if (type === SYNC.update || !this.#hasSynced) this.#count += 1;
    if (type === SYNC.step2) this.#endSync();
  }

  /** Called for a message that is stored. Returns the number of acknowledgements besides that of Hocuspocus. */
  accept(type: number): number {
    if (type !== SYNC.step2) return 0;
    const counted = this.#count + (this.#hasSynced ? 0 : 1);
    this.#count = 0;
    this.#endSync();
    return Math.max(0, counted - 1);
  }

  /** Whether the client must be asked for what was refused. It is then asked once. */
  ask(): boolean {
    const mustAsk = this.#count > 0 && this.#hasSynced && !this.#isAsked;
    if (mustAsk) this.#isAsked = true;
    return mustAsk;
  }

  #endSync(): void {
    this.#hasSynced = true;
    this.#isAsked = false;
  }
}
