import type { EventDraft } from "../../events/publish.ts";
import { canonicalTopic } from "../../events/topic-match.ts";
import { workspaceOf } from "./event-effects.ts";

/** Writes of one transaction, without its own claim. */
const WRITES_MAX = 99;
/** An event without a record counts as this many writes: a transaction holds the bytes of nineteen of the largest. */
const PLAIN_WRITES = 5;
/** Writes per event; per record, by kind, without the event; per workspace and its pending entry. */
const EVENT_WRITES = 2;
export const RECORD_WRITES = { asset: 2, vulnerability: 3, artifact: 0, totals: -2, run: 1 } as const;
export const WORKSPACE_WRITES = 2;

/** Splits events into batches that fit into one transaction with all of their writes. */
export function* eventBatches(drafts: Iterable<EventDraft>): Generator<EventDraft[]> {
  let batch: EventDraft[] = [];
  let writes = 0;
  let workspaces = new Set<string>();
  for (const draft of drafts) {
    const kind = draft.effect ?? (canonicalTopic(draft.topic) === "asset.discovered" ? "asset" : undefined);
    const own = kind === undefined ? PLAIN_WRITES : EVENT_WRITES + RECORD_WRITES[kind];
    const workspace = kind === undefined ? undefined : workspaceOf(draft);
    const isNew = workspace !== undefined && !workspaces.has(workspace);
    const more = own + (isNew ? WORKSPACE_WRITES : 0);
    if (writes + more > WRITES_MAX) {
      yield batch;
      batch = [];
      writes = 0;
      workspaces = new Set();
    }
    batch.push(draft);
    writes += own;
    if (workspace === undefined || workspaces.has(workspace)) continue;
    workspaces.add(workspace);
    writes += WORKSPACE_WRITES;
  }
  if (batch.length > 0) yield batch;
}
