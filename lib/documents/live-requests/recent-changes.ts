import type { AccessChanges } from "./access-feed.ts";

/** How long changes are remembered, milliseconds. A connection whose authorization has taken longer is checked. */
const REMEMBERED_MS = 30_000;

/** Who is connected, and a time before this client was authenticated, milliseconds of `performance.now()`. */
export interface Authorized {
  /** Id of the user; undefined if anonymous. */
  readonly user: string | undefined;
  readonly authorizedAt: number;
}

/** What one read of the feed returned, and when it ended, milliseconds of `performance.now()`. */
interface Read {
  readonly changes: AccessChanges;
  readonly at: number;
}

/**
 * What a feed has reported lately: whether a new connection must be checked. A change that became visible after its
 * authorization began is reported by a read that ended later, unless reads have failed, or begun, since. Choice:
 * infra/decisions/0258.
 */
export class RecentChanges {
  /** All reads that ended after this time are in `#reads`; undefined after a gap. */
  #since: number | undefined;
  #reads: Read[] = [];

  /** Notes what a read returned. Returns false if changes may have been missed before it. */
  note(changes: AccessChanges, at: number): boolean {
    if (changes.isReset) this.forget();
    const isComplete = this.#since !== undefined;
    this.#since ??= at;
    if (isComplete && !isEmpty(changes)) this.#reads.push({ changes, at });
    for (
      let [oldest] = this.#reads;
      oldest !== undefined && oldest.at < at - REMEMBERED_MS;
      [oldest] = this.#reads
    ) {
      this.#since = oldest.at;
      this.#reads.shift();
    }
    return isComplete;
  }

  /** Changes may be missed from now on. */
  forget(): void {
    this.#since = undefined;
    this.#reads = [];
  }

  /**
   * Whether the access to a document of this line may have changed since the connection was authorized. `lagMs`: that
   * of the feed.
   */
  mayConcern({ authorizedAt, user }: Authorized, line: readonly string[], lagMs: number): boolean {
    const from = authorizedAt - lagMs;
    if (this.#since === undefined || from <= this.#since) return true;
    return this.#reads.some(({ changes, at }) => at >= from && concerns(changes, line, user));
  }
}

const isEmpty = ({ documents, relations, users }: AccessChanges): boolean =>
  documents.length + relations.length + users.length === 0;

function concerns(changes: AccessChanges, line: readonly string[], user: string | undefined): boolean {
  if (changes.documents.some((id) => line.includes(id))) return true;
  return user !== undefined && usersOn(line, changes).has(user);
}

/** Users whose access to a document of this line may have changed. */
export function usersOn(line: readonly string[], { relations, users }: AccessChanges): ReadonlySet<string> {
  const documents = new Set(line);
  const related = relations.filter(([, document]) => documents.has(document)).map(([user]) => user);
  return new Set([...users, ...related]);
}
