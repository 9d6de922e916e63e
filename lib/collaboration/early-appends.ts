/** An update whose append began when it was received. */
interface EarlyAppend {
  readonly update: Uint8Array;
  readonly appended: Promise<void>;
}

/**
 * Updates of a connection that are being appended to the log before Hocuspocus handles them. Hocuspocus handles one
 * message after the other, each after the sync of the previous one; updates that arrive meanwhile are appended
 * together, in the order of their arrival.
 */
export class EarlyAppends {
  readonly #waiting: EarlyAppend[] = [];

  add(update: Uint8Array, appended: Promise<void>): void {
    // The error is thrown when Hocuspocus handles the update.
    appended.catch(() => {});
    this.#waiting.push({ update, appended });
  }

  /** The append of the update that Hocuspocus handles now, if it began earlier. */
  take(update: Uint8Array): Promise<void> | undefined {
    const [first] = this.#waiting;
    if (first === undefined || Buffer.compare(first.update, update) !== 0) return undefined;
    this.#waiting.shift();
    return first.appended;
  }

  /** Calls `apply` for each update that was appended and that Hocuspocus does not handle, as after a disconnection. */
  drop(apply: (update: Uint8Array) => void): void {
    for (const { update, appended } of this.#waiting.splice(0))
      appended.then(
        () => apply(update),
        () => {},
      );
  }
}
