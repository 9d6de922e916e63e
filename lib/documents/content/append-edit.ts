import { ApiError } from "../../errors.ts";
import type { Write } from "../../platform/tables.ts";
import { documentNotFound } from "../authorization/document-access.ts";
import { commitChange } from "../changes/commit.ts";
import { documentKey, documentsTable, type StoredDocument } from "../tables/documents.ts";
import type { SavedState } from "../tables/versions.ts";
import { type CompactDeps, compactLog } from "../updates/compact.ts";
import { UPDATE_MAX_BYTES } from "../updates/open-log.ts";
import type { DocumentWithLog } from "../updates/read-log.ts";
import type { UpdateLogs } from "../updates/update-log.ts";
import { EMPTY_UPDATE_BYTES } from "../updates/yjs-update.ts";
import { rememberSave } from "./recent-saves.ts";

/** An edit that is appended to the log of a document. */
export interface LoggedEdit {
  readonly update: Uint8Array;
  /** Whether it deletes content. */
  readonly deletes: boolean;
  readonly hop: number;
  /** The sent state. */
  readonly save: SavedState;
}

/**
 * Whether others are writing to the log, so that an edit is appended to it: a version that includes all updates could
 * be stored only if none is appended meanwhile.
 */
export async function isBeingEdited(
  { updateLogs }: { readonly updateLogs: UpdateLogs },
  { document, entries }: DocumentWithLog,
  { update }: { readonly update: Uint8Array },
): Promise<boolean> {
  const isPossible = update.length > EMPTY_UPDATE_BYTES && update.length <= UPDATE_MAX_BYTES;
  return isPossible && (entries.length > 0 || (await updateLogs.isFollowed(document.id)));
}

/**
 * Appends an edit to the log. If it deletes content, the content before stays available as a version. Throws `conflict`
 * if the content was replaced meanwhile.
 */
export async function appendEdit(
  deps: CompactDeps & { readonly updateLogs: UpdateLogs },
  id: string,
  generation: number,
  { update, deletes, hop, save }: LoggedEdit,
): Promise<void> {
  if (deletes) await compactLog(deps, id);
  await deps.updateLogs
    .use(id, async (log) => {
      if (log.generation !== generation) throw replacedMeanwhile();
      await log.append(update, { author: save.by, hop });
    })
    .catch((error: unknown) => {
      throw error instanceof ApiError && error.code === "precondition_failed" ? replacedMeanwhile() : error;
    });
  if (!deletes) return;
  await compactLog(deps, id, { keepsPrevious: true });
  // Not before: if the edit was lost, the same request must make it again.
  await commitChange(deps, async () => {
    const document = await deps.tables.get(documentsTable, documentKey(id));
    if (document === undefined) throw documentNotFound();
    return { writes: [noteSave(document, save)], events: [], result: undefined };
  });
}

/** Remembers a saved state. */
export function noteSave(document: StoredDocument, save: SavedState): Write {
  const recent_saves = rememberSave(document, save).map((one) => ({ ...one }));
  return {
    op: "update",
    table: documentsTable,
    key: documentKey(document.id),
    change: { set: { recent_saves }, add: { revision: 1 } },
    when: [["revision", "=", document.revision]],
  };
}

const replacedMeanwhile = (): ApiError =>
  new ApiError("conflict", "The content was replaced meanwhile; try again");
