import type { Ports } from "../../platform/ports.ts";
import type { Change, Condition } from "../../platform/tables.ts";
import { type CommitDeps, commitChange } from "../changes/commit.ts";
import { completeMoves, discardStagedAccesses } from "../grants/staged-accesses.ts";
import { documentKey, documentsTable, type StoredDocument } from "../tables/documents.ts";
import { documentEvent } from "./document-event.ts";

/** How long edits are collected into one event, at most, milliseconds. */
export const UPDATED_EVENT_DELAY_MS = 30_000;
/**
 * The delay differs by up to this time between documents, milliseconds: with the event, the log of a document is compacted,
 * and documents whose editing begins together would all block the event loop at the same time.
 */
const SPREAD_MS = 4_500;
/** An event that is overdue by this time gets a new timer. */
const LATE_MS = 60_000;
export const DOCUMENT_UPDATED_QUEUE = "document-updated";

/** Fields that an edit may change. */
const EDITABLE_FIELDS = ["content", "title", "excerpt"] as const;
type EditableField = (typeof EDITABLE_FIELDS)[number];

/** A timer message: checks a document for a pending updated event and a pending move. */
export interface UpdatedEventMessage {
  readonly document_id: string;
  readonly pending_move?: string;
}

type TimerDeps = Pick<Ports, "timers" | "clock">;

/**
 * Returns the change and conditions to add to the update of an edited document, so that one `documents.updated` event
 * covers this edit and those shortly before and after it. The timer is set first: a timer without a pending event is
 * harmless. `hop` counts the runs that led to the edit.
 */
export async function scheduleUpdatedEvent(
  deps: TimerDeps,
  {
    id,
    pending_update_at: since,
    pending_update_hop = 0,
  }: Pick<StoredDocument, "id" | "pending_update_at" | "pending_update_hop">,
  by: { readonly id: string } | undefined,
  edited: readonly EditableField[],
  hop = 0,
): Promise<{ readonly change: Required<Pick<Change, "set" | "setIfMissing">>; readonly when: Condition[] }> {
  const now = deps.clock.now();
  const at = now + UPDATED_EVENT_DELAY_MS - spreadOf(id);
  if (since === undefined || since < now - LATE_MS) await setTimer(deps, id, at);
  const flags = Object.fromEntries(edited.map((what) => [`pending_update_${what}`, true]));
  return {
    change: {
      // The highest hop of all edits in the event: a workflow that edits its own trigger document would not stop
      // otherwise.
      set: {
        pending_update_by: by?.id ?? null,
        ...flags,
        ...(hop > pending_update_hop ? { pending_update_hop: hop } : {}),
      },
      setIfMissing: { pending_update_at: at },
    },
    // If the event was sent meanwhile, this edit has no timer yet.
    when: since === undefined ? [] : [["pending_update_at", "=", since]],
  };
}

/** The ids of documents are random UUIDs. */
const spreadOf = (id: string): number =>
  Math.floor(((Number.parseInt(id.slice(0, 4), 16) || 0) * SPREAD_MS) / 0x10000);

async function setTimer({ timers }: TimerDeps, id: string, at: number): Promise<void> {
  const body = JSON.stringify({ document_id: id } satisfies UpdatedEventMessage);
  await timers.set(`document-updated:${id}`, at, DOCUMENT_UPDATED_QUEUE, { body });
}

/** Schedules the completion of a move, or the cleanup after a failed one, in case the moving process dies. */
export async function scheduleMoveCompletion(
  { timers, clock }: TimerDeps,
  id: string,
  moveId: string,
): Promise<void> {
  const body = JSON.stringify({ document_id: id, pending_move: moveId } satisfies UpdatedEventMessage);
  await timers.set(`document-moved:${moveId}`, clock.now() + UPDATED_EVENT_DELAY_MS, DOCUMENT_UPDATED_QUEUE, {
    body,
  });
}

/** Sends the pending `documents.updated` event if it is due. Deleted documents send none. */
export async function flushUpdatedEvent(
  deps: CommitDeps & TimerDeps,
  { document_id: id, pending_move: moveId }: UpdatedEventMessage,
): Promise<void> {
  const moved = await deps.tables.get(documentsTable, documentKey(id));
  if (moved !== undefined) await completeMoves(deps, [moved]);
  if (moveId !== undefined) await discardStagedAccesses(deps, id, moveId);
  await commitChange(deps, async () => {
    const document = await deps.tables.get(documentsTable, documentKey(id));
    const at = document?.pending_update_at;
    const nothing = { writes: [], events: [], result: undefined };
    if (document === undefined || at === undefined) return nothing;
    if (at > deps.clock.now()) {
      await setTimer(deps, id, at);
      return nothing;
    }
    const changed = EDITABLE_FIELDS.filter((what) => document[`pending_update_${what}`] === true);
    const { pending_update_by: by = null, pending_update_authors: authors = [] } = document;
    const users = new Set(by === null ? authors : [...authors, by]);
    const details = { user_id: by, user_ids: [...users], changed };
    return {
      writes: [
        {
          op: "update",
          table: documentsTable,
          key: documentKey(id),
          change: {
            remove: [
              "pending_update_at",
              "pending_update_by",
              "pending_update_authors",
              "pending_update_hop",
              ...EDITABLE_FIELDS.map((what) => `pending_update_${what}`),
            ],
          },
          when: [
            ["pending_update_at", "=", at],
            ["revision", "=", document.revision],
          ],
        } as const,
      ],
      events:
        document.deleted_at === null
          ? [
              {
                ...documentEvent("documents.updated", document, undefined, details),
                hop: document.pending_update_hop ?? 0,
              },
            ]
          : [],
      result: undefined,
    };
  });
}
