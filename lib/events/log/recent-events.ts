import type { StoredEvent } from "./table.ts";

/** What the index needs of a record. */
export type IndexableEvent = Pick<
  StoredEvent,
  | "event_id"
  | "processed"
  | "failed"
  | "topic"
  | "name"
  | "source"
  | "workspace"
  | "run_id"
  | "workflow_name"
  | "created_at"
  | "matches"
  | "hop"
>;

/** Records of a generation, of which two are kept; older ones are read from the table. */
const GENERATION_MAX = 4_000;

/**
 * The records that this process committed and has not indexed yet, as far as the index needs them, so that it need not
 * read them again. Only records that will not change. Remembers nothing in a process that does not index.
 */
export class RecentEvents {
  #events = new Map<string, IndexableEvent>();
  #older = new Map<string, IndexableEvent>();
  #isRead = false;

  add(records: readonly StoredEvent[]): void {
    if (!this.#isRead) return;
    for (const record of records) {
      if (!record.processed) continue;
      if (this.#events.size >= GENERATION_MAX) {
        this.#older = this.#events;
        this.#events = new Map();
      }
      const { event_id, processed, topic, name, source, workspace, run_id, workflow_name } = record;
      const { created_at, matches, hop } = record;
      const labels = { topic, name, source, workspace, run_id, workflow_name };
      const event = { event_id, processed, ...labels, created_at, matches, hop };
      this.#events.set(event_id, event);
    }
  }

  /** Returns a record and forgets it: it is usually needed once. */
  take(id: string): IndexableEvent | undefined {
    this.#isRead = true;
    const event = this.#events.get(id) ?? this.#older.get(id);
    if (event !== undefined && !this.#events.delete(id)) this.#older.delete(id);
    return event;
  }
}
