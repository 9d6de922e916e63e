import type { Ports } from "../../platform/ports.ts";
import type { Change, Condition } from "../../platform/tables.ts";
import type { Viewer } from "../authorization/document-access.ts";
import { type CommitDeps, commitChange } from "../changes/commit.ts";
import { settleMoves, sweepStaged } from "../grants/staged-accesses.ts";
import { documentKey, documentsTable, type StoredDocument } from "../tables/documents.ts";
import { documentEvent } from "./document-event.ts";

/** How long edits are gathered until one event tells of them, milliseconds. */
export const TOLD_AFTER_MS = 30_000;
/** After its time an event that nobody sent is seen to once more. */
const LATE_MS = 60_000;
export const DOCUMENT_UPDATED_QUEUE = "document-updated";

/** What an edit may change. */
const EDITED = ["content", "title", "excerpt"] as const;
type Edited = (typeof EDITED)[number];

/** Requests a check for pending update events of a document, and for what a move of it has left. */
export interface UntoldMessage {
  readonly document_id: string;
  readonly moving?: string;
}

type TimerDeps = Pick<Ports, "timers" | "clock">;

/**
 * What an edit adds to the update of its document's row so that `documents.updated` tells of it soon, together with
 * those before and after it; the conditions belong to the same update. Its timer is set first: one that finds nothing to
 * be told of does no harm. `hop` counts the runs that led to the edit.
 */
export async function tellLater(
  deps: TimerDeps,
  { id, untold_at: since, untold_hop = 0 }: Pick<StoredDocument, "id" | "untold_at" | "untold_hop">,
  by: Viewer,
  edited: readonly Edited[],
  hop = 0,
): Promise<{ readonly change: Required<Pick<Change, "set" | "setIfMissing">>; readonly when: Condition[] }> {
  const now = deps.clock.now();
  const at = now + TOLD_AFTER_MS;
  if (since === undefined || since < now - LATE_MS) await setTimer(deps, id, at);
  const marks = Object.fromEntries(edited.map((what) => [`untold_${what}`, true]));
  return {
    change: {
      // Of all edits that are told of together, the one that most runs led to: a workflow that edits what sets it off
      // would not come to an end otherwise.
      set: { untold_by: by?.id ?? null, ...marks, ...(hop > untold_hop ? { untold_hop: hop } : {}) },
      setIfMissing: { untold_at: at },
    },
    // Where it was told of meanwhile, there is no timer for this edit yet.
    when: since === undefined ? [] : [["untold_at", "=", since]],
  };
}

async function setTimer({ timers }: TimerDeps, id: string, at: number): Promise<void> {
  const body = JSON.stringify({ document_id: id } satisfies UntoldMessage);
  await timers.set(`document-updated:${id}`, at, DOCUMENT_UPDATED_QUEUE, { body });
}

/** Has the rights of a move settled soon, or removed where it fails, in case that the process which moves the document dies. */
export async function settleLater({ timers, clock }: TimerDeps, id: string, moving: string): Promise<void> {
  const body = JSON.stringify({ document_id: id, moving } satisfies UntoldMessage);
  await timers.set(`document-moved:${moving}`, clock.now() + TOLD_AFTER_MS, DOCUMENT_UPDATED_QUEUE, { body });
}

/** Tells of a document's edits when their time has come; of a deleted one's nothing is told any more. */
export async function tellOfEdits(
  deps: CommitDeps & TimerDeps,
  { document_id: id, moving }: UntoldMessage,
): Promise<void> {
  const moved = await deps.tables.get(documentsTable, documentKey(id));
  if (moved !== undefined) await settleMoves(deps, [moved]);
  if (moving !== undefined) await sweepStaged(deps, id, moving);
  await commitChange(deps, async () => {
    const document = await deps.tables.get(documentsTable, documentKey(id));
    const at = document?.untold_at;
    const nothing = { writes: [], events: [], result: undefined };
    if (document === undefined || at === undefined) return nothing;
    if (at > deps.clock.now()) {
      await setTimer(deps, id, at);
      return nothing;
    }
    const changed = EDITED.filter((what) => document[`untold_${what}`] === true);
    const told = { user_id: document.untold_by ?? null, changed };
    return {
      writes: [
        {
          ...{ op: "update", table: documentsTable, key: documentKey(id) },
          change: {
            remove: ["untold_at", "untold_by", "untold_hop", ...EDITED.map((what) => `untold_${what}`)],
          },
          when: [
            ["untold_at", "=", at],
            ["revision", "=", document.revision],
          ],
        } as const,
      ],
      events:
        document.deleted_at === null
          ? [
              {
                ...documentEvent("documents.updated", document, undefined, told),
                hop: document.untold_hop ?? 0,
              },
            ]
          : [],
      result: undefined,
    };
  });
}
