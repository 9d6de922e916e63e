import type { Ports } from "../../platform/ports.ts";
import type { Change, Condition } from "../../platform/tables.ts";
import type { Viewer } from "../authorization/document-access.ts";
import { type CommitDeps, commitChange } from "../changes/commit.ts";
import { completeMoves, discardStagedAccesses } from "../grants/staged-accesses.ts";
import { documentKey, documentsTable, type StoredDocument } from "../tables/documents.ts";
import { documentEvent } from "./document-event.ts";

/** How long edits are gathered until one event tells of them, milliseconds. */
export const UPDATED_EVENT_DELAY_MS = 30_000;
/** After its time an event that nobody sent is seen to once more. */
const LATE_MS = 60_000;
export const DOCUMENT_UPDATED_QUEUE = "document-updated";

/** What an edit may change. */
const EDITABLE_FIELDS = ["content", "title", "excerpt"] as const;
type EditableField = (typeof EDITABLE_FIELDS)[number];

/** Requests a check for pending update events of a document, and for what a move of it has left. */
export interface UpdatedEventMessage {
  readonly document_id: string;
  readonly pending_move?: string;
}

type TimerDeps = Pick<Ports, "timers" | "clock">;

/**
 * What an edit adds to the update of its document's row so that `documents.updated` tells of it soon, together with
 * those before and after it; the conditions belong to the same update. Its timer is set first: one that finds nothing to
 * be details of does no harm. `hop` counts the runs that led to the edit.
 */
export async function scheduleUpdatedEvent(
  deps: TimerDeps,
  {
    id,
    pending_update_at: since,
    pending_update_hop = 0,
  }: Pick<StoredDocument, "id" | "pending_update_at" | "pending_update_hop">,
  by: Viewer,
  edited: readonly EditableField[],
  hop = 0,
): Promise<{ readonly change: Required<Pick<Change, "set" | "setIfMissing">>; readonly when: Condition[] }> {
  const now = deps.clock.now();
  const at = now + UPDATED_EVENT_DELAY_MS;
  if (since === undefined || since < now - LATE_MS) await setTimer(deps, id, at);
  const flags = Object.fromEntries(edited.map((what) => [`pending_update_${what}`, true]));
  return {
    change: {
      // Of all edits that are details of together, the one that most runs led to: a workflow that edits what sets it off
      // would not come to an end otherwise.
      set: {
        pending_update_by: by?.id ?? null,
        ...flags,
        ...(hop > pending_update_hop ? { pending_update_hop: hop } : {}),
      },
      setIfMissing: { pending_update_at: at },
    },
    // Where it was details of meanwhile, there is no timer for this edit yet.
    when: since === undefined ? [] : [["pending_update_at", "=", since]],
  };
}

async function setTimer({ timers }: TimerDeps, id: string, at: number): Promise<void> {
  const body = JSON.stringify({ document_id: id } satisfies UpdatedEventMessage);
  await timers.set(`document-updated:${id}`, at, DOCUMENT_UPDATED_QUEUE, { body });
}

/** Has the rights of a move settled soon, or removed where it fails, in case that the process which moves the document dies. */
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

/** Tells of a document's edits when their time has come; of a deleted one's nothing is details any more. */
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
    const details = { user_id: document.pending_update_by ?? null, changed };
    return {
      writes: [
        {
          ...{ op: "update", table: documentsTable, key: documentKey(id) },
          change: {
            remove: [
              "pending_update_at",
              "pending_update_by",
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
