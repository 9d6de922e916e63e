import { ApiError } from "../../errors.ts";
import type { Converter } from "../../platform/converter.ts";
import { findDocument } from "../authorization/document-access.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";
import type { StoredUser } from "../tables/users.ts";
import { CONTENT_MAX_BYTES, type ContentHead } from "../tables/versions.ts";
import { type Content, contentTooLarge } from "./body.ts";
import { contentBytes } from "./read.ts";
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
   * Appends text on a new line: to plain content as is, to editor content as blocks; the rest is unchanged. Throws
   * `conflict` if the content changes concurrently or, with `ifNone`, if there is any.
   */
  append(
    user: StoredUser,
    id: string,
    text: string,
    how: { readonly ifNone?: boolean; readonly cause: Cause },
  ): Promise<void>;
}

const NEWLINE = 0x0a;

export type TextDeps = SaveDeps & { readonly converter?: Converter };

/**
 * Content as text for scripts: plain content as is, editor content as markdown. Throws `bad_request` for text that
 * content cannot hold, `conflict` if the content has changed, `unavailable` if this installation has no converter.
 */
export function contentAsText(deps: TextDeps): ContentAccess {
  return {
    read: async (id) => {
      const head = await headOf(deps, id);
      return head === undefined ? undefined : textOf(deps, id, head);
    },
    append: async (user, id, text, { ifNone = false, cause }) => {
      const head = await headOf(deps, id);
      if (ifNone && head !== undefined) throw new ApiError("conflict", "The document already has content.");
      const access = await findDocument(deps, user, id);
      const content = await appended(deps, id, head, text);
      if (content.bytes.length > CONTENT_MAX_BYTES) throw contentTooLarge();
      const unchanged = head === undefined ? null : `"${head.etag}"`;
      await saveContent(deps, access, content, unchanged, cause.hop).catch((error: unknown) => {
        const isLate = error instanceof ApiError && error.code === "precondition_failed";
        throw isLate ? new ApiError("conflict", error.message) : error;
      });
    },
  };
}

async function appended(
  deps: TextDeps,
  id: string,
  head: ContentHead | undefined,
  text: string,
): Promise<Content> {
  const added = Buffer.from(text, "utf8");
  const was = head === undefined ? Buffer.alloc(0) : await contentBytes(deps, id, head);
  if (head?.kind === "yjs") {
    const bytes = await converted(deps, { from: "markdown", bytes: added, to: "yjs", onto: was });
    return { kind: "yjs", bytes };
  }
  if (added.includes(0)) throw new ApiError("bad_request", "text: must not contain the character NUL");
  const isOpen = was.length > 0 && was.at(-1) !== NEWLINE;
  return { kind: "plain", bytes: Buffer.concat([was, isOpen ? Buffer.from("\n") : Buffer.alloc(0), added]) };
}

const headOf = async ({ tables }: TextDeps, id: string): Promise<ContentHead | undefined> =>
  (await tables.get(documentsTable, documentKey(id)))?.content;

async function textOf(deps: TextDeps, id: string, head: ContentHead): Promise<string> {
  const bytes = await contentBytes(deps, id, head);
  const shown = head.kind === "plain" ? bytes : await converted(deps, { from: "yjs", bytes, to: "markdown" });
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
