import { hash } from "node:crypto";
import { ApiError } from "../../errors.ts";
import type { Converter } from "../../platform/converter.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Condition, Write } from "../../platform/tables.ts";
import { adoptAttachments } from "../attachments/adopt.ts";
import { findAttachmentKeys } from "../attachments/attachment-keys.ts";
import { type AuthorizationDeps, authorize, type DocumentAccess } from "../authorization/document-access.ts";
import { type Change, type CommitDeps, commitChange } from "../changes/commit.ts";
import { scheduleUpdatedEvent } from "../events/updated-event.ts";
import { documentKey, documentsTable, type StoredDocument } from "../tables/documents.ts";
import { updatesKey, updatesTable } from "../tables/updates.ts";
import {
  CONTENT_MAX_BYTES,
  type ContentHead,
  type StoredVersion,
  versionBlob,
  versionKey,
  versionsTable,
} from "../tables/versions.ts";
import { compactLog, deleteEntries } from "../updates/compact.ts";
import { composeLogItem } from "../updates/log-item.ts";
import { contentEtag, type DocumentWithLog, readDocumentWithLog } from "../updates/read-log.ts";
import type { UpdateLogs } from "../updates/update-log.ts";
import { findSupersededVersions, removeVersionBlobs } from "../updates/version-retention.ts";
import { EMPTY_UPDATE_BYTES } from "../updates/yjs-update.ts";
import { appendEdit, isBeingEdited, type LoggedEdit, noteSave } from "./append-edit.ts";
import { type Content, contentTooLarge } from "./body.ts";
import { matchesEtag } from "./conditional-requests.ts";
import { type SavePlan, SavePlanner, type SentContent } from "./plan-save.ts";
import { rememberSave } from "./recent-saves.ts";

export type SaveDeps = CommitDeps &
  AuthorizationDeps &
  Pick<Ports, "blobs" | "ids" | "timers" | "clock"> & {
    readonly updateLogs: UpdateLogs;
    readonly converter?: Converter | undefined;
  };

export interface SaveOptions extends Pick<SentContent, "isConnected" | "isRestored"> {
  /** Entity tags of which one must be the current content's; null: there must be none. */
  readonly ifMatch?: string | null | undefined;
  /** Number of runs that led to the save. */
  readonly hop?: number;
}

type Edit = Extract<SavePlan, { kind: "edit" }>;

/** What is left to do after the commit. */
interface Saved {
  readonly superseded: readonly string[];
  /** The edit to append to the log, which others are writing to. */
  readonly append?: LoggedEdit;
  readonly generation: number;
  readonly end: "replaced" | "edited" | "unchanged";
  /** Entries of the log that the new version includes. */
  readonly position?: number;
}

/**
 * Saves sent content: merged with the current one or as an edit of it, where `SavePlanner` finds that possible, else as
 * a whole, which ends the document's update log and begins a new generation. The bytes are stored first, then the
 * version becomes the latest, so readers get either the old or the new content. What was there before stays a version.
 * Unchanged content creates no version. Throws `precondition_failed` if `ifMatch` does not match the current content,
 * `payload_too_large`, `conflict`, `not_found`, `unauthorized`, `forbidden`. Reference 1.5.
 */
export async function saveContent(
  deps: SaveDeps,
  first: DocumentAccess,
  content: Content,
  { ifMatch, hop = 0, ...about }: SaveOptions = {},
): Promise<void> {
  const { viewer } = first;
  const { id } = first.document;
  const etag = hash("md5", content.bytes);
  const sender = viewer?.id ?? null;
  await adoptAttachments(deps, viewer, id, findAttachmentKeys(content.bytes));
  const planner = new SavePlanner(deps, { ...content, ...about, etag, sender });
  const stored: StoredState[] = [];
  const saved = await commitChange<Saved>(deps, async (attempt) => {
    const access = attempt === 0 ? first : await authorize(deps, viewer, id, "content_patch");
    let current = await readDocumentWithLog(deps, id, access.document);
    const { generation = 0 } = current.document;
    const before = isEmpty(current) ? undefined : contentEtag(current);
    const isAsRead =
      ifMatch === null ? before === undefined : ifMatch === undefined || matchesEtag(ifMatch, before);
    if (!isAsRead) throw new ApiError("precondition_failed", "The content has changed since it was read.");
    const plan = before === etag ? NOTHING : await planner.plan(current);
    const unchanged: Saved = { superseded: [], generation, end: "unchanged" };
    if (plan.kind === "nothing")
      return { writes: [touched(deps, current.document)], events: [], result: unchanged };
    const at = deps.clock.now();
    const position = current.entries.at(-1)?.position ?? current.document.content?.position ?? 0;
    if (plan.kind === "edit" && ifMatch === undefined && (await isBeingEdited(deps, current, plan))) {
      const save = { etag, at, by: sender, position, isMerged: true };
      const result = { ...unchanged, append: { ...plan, save, hop } };
      return { writes: plan.deletes ? [] : [noteSave(current.document, save)], events: [], result };
    }
    const state = plan.kind === "edit" ? await plan.state() : content.bytes;
    if (state.length > CONTENT_MAX_BYTES) throw contentTooLarge();
    if (current.entries.length > 0) {
      await compactLog(deps, id);
      current = await readDocumentWithLog(deps, id);
      // The plan is for the entries that were read. The compaction may have included later ones.
      if (current.entries.length > 0 || current.document.content?.position !== position)
        throw new ApiError("conflict", "The content is being changed; try again");
    }
    const { version, etag: newEtag } = await store(deps, current.document, state, stored);
    const head = { version, etag: newEtag, kind: content.kind, bytes: state.length };
    const attachments = findAttachmentKeys(state);
    const edit = plan.kind === "edit" ? plan : undefined;
    return change(deps, { ...access, document: current.document }, head, {
      edit,
      position,
      hop,
      sent: etag,
      attachments,
    });
  });
  await removeVersionBlobs(deps, id, saved.superseded);
  if (saved.append !== undefined) await appendEdit(deps, id, saved.generation, saved.append);
  if (saved.position !== undefined) await deleteEntries(deps, id, saved.generation, saved.position);
  if (saved.end === "replaced") await deps.updateLogs.end(id);
  if (saved.end === "edited") await deps.updateLogs.announce(id);
}

const NOTHING: SavePlan = { kind: "nothing" };

const isEmpty = ({ document, entries }: DocumentWithLog): boolean =>
  document.content === undefined && entries.length === 0;

interface StoredState {
  readonly version: string;
  /** MD5 of its bytes, hexadecimal. */
  readonly etag: string;
}

/**
 * Stores the bytes under an id that sorts after all versions, unless an earlier attempt has. Blobs left without a version
 * are removed later.
 */
async function store(
  deps: SaveDeps,
  { id, content: before }: StoredDocument,
  bytes: Uint8Array,
  stored: StoredState[],
): Promise<StoredState> {
  const etag = hash("md5", bytes);
  const last = stored.at(-1);
  if (last?.etag === etag && last.version > (before?.version ?? "")) return last;
  const state = { version: deps.ids.ordered(), etag };
  stored.push(state);
  await deps.blobs.put(versionBlob(id, state.version), bytes);
  return state;
}

function touched({ clock }: Pick<Ports, "clock">, { id }: StoredDocument): Write {
  const set = { updated_at: new Date(clock.now()).toISOString() };
  return {
    op: "update",
    table: documentsTable,
    key: documentKey(id),
    change: { set, add: { revision: 1 } },
    when: [["deleted_at", "=", null]],
  };
}

interface Into {
  /** Without one, the content is replaced. */
  readonly edit: Edit | undefined;
  /** Position of the last entry of the log. */
  readonly position: number;
  readonly hop: number;
  /** MD5 of the sent bytes, hexadecimal. */
  readonly sent: string;
  /** Keys of the attachments that the content references. */
  readonly attachments: readonly string[];
}

async function change(
  deps: SaveDeps,
  { document, viewer }: DocumentAccess,
  head: Omit<ContentHead, "saved_at" | "position">,
  { edit, position: last, hop, sent, attachments }: Into,
): Promise<Change<Saved>> {
  const now = deps.clock.now();
  const at = new Date(now).toISOString();
  const update = edit?.update;
  const next = last + 1;
  const { id, revision, generation = 0 } = document;
  const author = viewer?.id ?? null;
  const isLogged = update !== undefined && update.length > EMPTY_UPDATE_BYTES;
  const [pending, retention, entry] = await Promise.all([
    scheduleUpdatedEvent(deps, document, viewer, ["content"], hop),
    findSupersededVersions(deps, id, document.retention_cursor),
    isLogged ? composeLogItem(deps, id, [update], { authors: [author], at }) : undefined,
  ]);
  const { version, etag, bytes, kind } = head;
  const item: StoredVersion = {
    ...versionKey(id, version),
    etag,
    bytes,
    kind,
    last_modified: at,
    author,
    attachments,
  };
  const content = { ...head, saved_at: at };
  const position = isLogged ? next : last;
  const save = { etag: sent, at: now, by: author, position, isMerged: edit?.isMerged === true };
  const recent_saves = (edit === undefined ? [{ ...save, position: 0 }] : rememberSave(document, save)).map(
    (one) => ({ ...one }),
  );
  const set = { ...pending.change.set, updated_at: at, retention_cursor: retention.end, recent_saves };
  const changed =
    update === undefined
      ? { set: { ...set, content, generation: generation + 1 }, remove: ["has_log", "log_start"] }
      : {
          set: {
            ...set,
            content: { ...content, position },
            log_start: position,
            ...(isLogged ? { has_log: true } : {}),
          },
        };
  const log = updatesKey(id, generation, next);
  const isNext: Condition[] = [["pk", "missing"]];
  const writes: Write[] = [
    {
      op: "update",
      table: documentsTable,
      key: documentKey(id),
      change: { ...pending.change, ...changed, add: { revision: 1 } },
      when: [["revision", "=", revision], ["deleted_at", "=", null], ...pending.when],
    },
    // Nothing was appended since the log was read.
    entry === undefined
      ? { op: "check", table: updatesTable, key: log, when: isNext }
      : { op: "put", table: updatesTable, item: { ...log, ...entry }, when: isNext },
    { op: "put", table: versionsTable, item, when: [["pk", "missing"]] },
    ...retention.superseded.map(
      (old): Write => ({ op: "delete", table: versionsTable, key: versionKey(id, old) }),
    ),
  ];
  const { superseded } = retention;
  if (update === undefined)
    return { writes, events: [], result: { superseded, generation, end: "replaced" } };
  // Others who follow the log have not read its last entry yet.
  const included = document.has_log === true ? { position: last } : {};
  return { writes, events: [], result: { superseded, generation, end: "edited", ...included } };
}
