import type { ReactNode } from "react";
import type { Schemas } from "../../client/api.ts";
import { documentPath } from "../api/documents.ts";
import { useTranslation } from "../i18n/use-translation.ts";
import classes from "./found-document.module.css";

export type FoundDocument = Schemas["FoundDocument"];
type Highlight = FoundDocument["highlights"][number];

/** The excerpt that is shown: of the text, if that matches. */
const excerptOf = ({ highlights }: FoundDocument): Highlight | undefined =>
  highlights.find(({ field }) => field !== "title");

/** The address of a found document, at the place that matched. */
export function pathOfFound(found: FoundDocument): string {
  const excerpt = excerptOf(found);
  const path = documentPath(found);
  if (excerpt === undefined) return path;
  const { block_id: block, thread_id: thread, text, matches } = excerpt;
  if (block !== null) return `${path}?${new URLSearchParams({ block })}`;
  if (thread !== null) return `${path}?${new URLSearchParams({ panel: "comments", thread })}`;
  // Blocks that no editor has seen yet have no ids.
  const find = text.slice(matches[0]?.start, matches[0]?.end);
  return `${path}?${new URLSearchParams({ find })}`;
}

/** A result of the search: the title, the document above, and an excerpt with what matched. */
export function FoundDocumentView({ found }: { readonly found: FoundDocument }): ReactNode {
  const { t } = useTranslation();
  const excerpt = excerptOf(found);
  const title = found.highlights.find(({ field }) => field === "title");
  return (
    <span className={classes.found}>
      <span className={classes.title} dir="auto">
        {title === undefined ? (found.title ?? t("app.untitled")) : <Marked highlight={title} />}
      </span>
      {found.parent !== null && (
        <span className={classes.parent} dir="auto">
          {found.parent.title ?? t("app.untitled")}
        </span>
      )}
      {excerpt !== undefined && (
        <span className={classes.excerpt} dir="auto">
          <Marked highlight={excerpt} />
        </span>
      )}
    </span>
  );
}

function Marked({ highlight: { text, matches } }: { readonly highlight: Highlight }): ReactNode {
  const parts: ReactNode[] = [];
  let at = 0;
  for (const { start, end } of matches) {
    parts.push(text.slice(at, start), <mark key={start}>{text.slice(start, end)}</mark>);
    at = end;
  }
  return [...parts, text.slice(at)];
}
