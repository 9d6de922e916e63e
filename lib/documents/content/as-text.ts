import { ApiError } from "../../errors.ts";
import type { Converter } from "../../platform/converter.ts";
import { findSeen } from "../access/seen.ts";
import type { ContentAccess } from "../asked/content.ts";
import { documentKey, documentsTable } from "../tree/table.ts";
import { contentBytes } from "./read.ts";
import { type SaveDeps, saveContent } from "./save.ts";
import type { ContentHead } from "./table.ts";

export type TextDeps = SaveDeps & { readonly converter?: Converter };

/**
 * Content as text, for scripts: plain content as it is, what editors keep as markdown, which goes back the same way.
 * Throws `conflict` where it is another by now, `unavailable` where nothing can be converted here.
 */
export function contentAsText(deps: TextDeps): ContentAccess {
  return {
    read: async (id) => {
      const head = await headOf(deps, id);
      return head === undefined ? undefined : textOf(deps, id, head);
    },
    write: async (user, id, text, { was, cause }) => {
      const head = await headOf(deps, id);
      const now = head === undefined ? undefined : await textOf(deps, id, head);
      if (now !== was) throw new ApiError("conflict", "The content has been changed since it was read.");
      const seen = await findSeen(deps, user, id);
      const bytes = Buffer.from(text, "utf8");
      const content =
        head?.kind === "yjs"
          ? { kind: "yjs" as const, bytes: await converted(deps, { from: "markdown", bytes, to: "yjs" }) }
          : { kind: "plain" as const, bytes };
      await saveContent(deps, seen, content, head && `"${head.etag}"`, cause.hop).catch((error: unknown) => {
        const isLate = error instanceof ApiError && error.code === "precondition_failed";
        throw isLate ? new ApiError("conflict", error.message) : error;
      });
    },
  };
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
