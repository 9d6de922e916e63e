import { ApiError } from "../../errors.ts";
import type { Converter } from "../../platform/converter.ts";
import { findDocument } from "../authorization/document-access.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";
import type { StoredUser } from "../tables/users.ts";
import { CONTENT_MAX_BYTES, type ContentHead } from "../tables/versions.ts";
import { type Content, contentTooLarge } from "./body.ts";
import { contentBytes } from "./read.ts";
import { type SaveDeps, saveContent } from "./save.ts";

/** What led to a change, for the events that tell of it. */
export interface Cause {
  readonly run_id: string;
  readonly workflow_name: string;
  /** Also of what is told later: a workflow that sets itself off would not come to an end. */
  readonly hop: number;
}

/** The text of documents, for those who do not edit it as a client does. Whoever calls has made sure of the rights. */
export interface ContentAccess {
  /** Undefined of a document whose content was never saved. */
  read(id: string): Promise<string | undefined>;
  /**
   * Adds text on a line of its own: to plain content as it is, to what editors keep as blocks, which leaves all else as
   * it was. Throws `conflict` where the content changes meanwhile or, `ifNone`, where there is any.
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
 * Content as text, for scripts: plain content as it is, what editors keep as markdown. Throws `bad_request` for text that
 * content cannot hold, `conflict` where it is another by now, `unavailable` where nothing can be converted here.
 */
export function contentAsText(deps: TextDeps): ContentAccess {
  return {
    read: async (id) => {
      const head = await headOf(deps, id);
      return head === undefined ? undefined : textOf(deps, id, head);
    },
    append: async (user, id, text, { ifNone = false, cause }) => {
      const head = await headOf(deps, id);
      if (ifNone && head !== undefined) throw new ApiError("conflict", "The document has content by now.");
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
    throw new ApiError("unavailable", "What editors keep cannot be converted here.");
  const outcome = await converter.convert(conversion);
  if (!outcome.ok) throw new ApiError("bad_request", "The content cannot be converted.");
  return typeof outcome.value === "string" ? Buffer.from(outcome.value, "utf8") : outcome.value;
}
