import { ApiError } from "../../errors.ts";
import type { Converter } from "../../platform/converter.ts";
import { findDocument } from "../authorization/document-access.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";
import type { StoredUser } from "../tables/users.ts";
import { CONTENT_MAX_BYTES } from "../tables/versions.ts";
import type { DocumentLog } from "../updates/update-log.ts";
import { type Content, contentTooLarge } from "./body.ts";
import { readCurrentContent } from "./read.ts";
import { type SaveDeps, saveContent } from "./save.ts";

/** The run that caused a change, for its events. */
export interface Cause {
  readonly run_id: string;
  readonly workflow_name: string;
  /** Also set on pending events: a workflow that triggers itself would not stop otherwise. */
  readonly hop: number;
}

/** Reads and appends document text. Callers check permissions. */
export interface ContentAccess {
  /** Returns undefined if no content was ever saved. */
  read(id: string): Promise<string | undefined>;
  /**
   * Appends text on a new line: to plain content as is, to editor content as blocks, as an update that is merged with
   * those of others. Throws `conflict` if plain content changes concurrently or, with `ifNone`, if there is content.
   */
  append(
    user: StoredUser,
    id: string,
    text: string,
    how: { readonly ifNone?: boolean; readonly cause: Cause },
  ): Promise<void>;
}

const NEWLINE = 0x0a;

export type TextDeps = SaveDeps;

/**
 * Content as text for scripts: plain content as is, editor content as markdown. Throws `bad_request` for text that
 * content cannot hold, `conflict` if the content has changed, `unavailable` if this installation has no converter.
 */
export function contentAsText(deps: TextDeps): ContentAccess {
  return {
    read: async (id) => {
      const current = await currentOf(deps, id);
      return current === undefined ? undefined : textOf(deps, current);
    },
    append: async (user, id, text, { ifNone = false, cause }) => {
      const current = await currentOf(deps, id);
      if (ifNone && current !== undefined)
        throw new ApiError("conflict", "The document already has content.");
      const access = await findDocument(deps, user, id);
      const isOpen = current === undefined && (await deps.updateLogs.isFollowed(id));
      if (isOpen || current?.kind === "yjs") return appendBlocks(deps, id, text, user, cause);
      const content = { kind: "plain", bytes: appended(current?.bytes ?? new Uint8Array(), text) } as const;
      if (content.bytes.length > CONTENT_MAX_BYTES) throw contentTooLarge();
      const ifMatch = current === undefined ? null : `"${current.etag}"`;
      await saveContent(deps, access, content, { ifMatch, hop: cause.hop }).catch(asConflict);
    },
  };
}

/** Appends Markdown to an editor's content as an update, which is merged with those of connected editors. */
async function appendBlocks(
  deps: TextDeps,
  id: string,
  text: string,
  { id: author }: StoredUser,
  { hop }: Cause,
): Promise<void> {
  const append = async (log: DocumentLog): Promise<void> => {
    const { state: base } = await log.read();
    const bytes = Buffer.from(text, "utf8");
    const update = await converted(deps, { from: "markdown", bytes, to: "update", base, append: true });
    if (update.length > 0) await log.append(update, { author, hop });
  };
  await deps.updateLogs.use(id, append).catch(asConflict);
}

function asConflict(error: unknown): never {
  const isLate = error instanceof ApiError && error.code === "precondition_failed";
  throw isLate ? new ApiError("conflict", error.message) : error;
}

function appended(was: Uint8Array, text: string): Uint8Array {
  const added = Buffer.from(text, "utf8");
  if (added.includes(0)) throw new ApiError("bad_request", "text: must not contain the character NUL");
  const isOpen = was.length > 0 && was.at(-1) !== NEWLINE;
  return Buffer.concat([was, isOpen ? Buffer.from("\n") : Buffer.alloc(0), added]);
}

async function currentOf(deps: TextDeps, id: string): Promise<(Content & { etag: string }) | undefined> {
  const document = await deps.tables.get(documentsTable, documentKey(id));
  return document && readCurrentContent(deps, document);
}

async function textOf(deps: TextDeps, { bytes, kind }: Content): Promise<string> {
  const shown = kind === "plain" ? bytes : await converted(deps, { from: "yjs", bytes, to: "markdown" });
  return Buffer.from(shown).toString("utf8");
}

async function converted(
  { converter }: TextDeps,
  conversion: Parameters<Converter["convert"]>[0],
): Promise<Uint8Array> {
  if (converter === undefined)
    throw new ApiError("unavailable", "Editor content cannot be converted in this installation.");
  const outcome = await converter.convert(conversion);
  if (!outcome.ok) throw new ApiError("bad_request", "The content cannot be converted.");
  return typeof outcome.value === "string" ? Buffer.from(outcome.value, "utf8") : outcome.value;
}
