import type { StoredDocument } from "../tables/documents.ts";
import type { SavedState } from "../tables/versions.ts";
import type { DocumentWithLog } from "../updates/read-log.ts";

/** How long a saved state is remembered, and how many are. A client repeats a request without a response sooner. */
const REMEMBERED_MS = 2 * 60_000;
const REMEMBERED_MAX = 20;

/** The states that were saved lately, with one more. */
export function rememberSave(
  { recent_saves: saves = [] }: Pick<StoredDocument, "recent_saves">,
  saved: SavedState,
): SavedState[] {
  const since = saved.at - REMEMBERED_MS;
  return [...saves.filter(({ at }) => at > since), saved].slice(-REMEMBERED_MAX);
}

/**
 * Whether a state that adds nothing is one that was saved a moment ago and arrives again, because the response was lost:
 * it was merged, so that it has never been the content itself, or others have edited since. It must not set the content
 * back. A sender that has saved a later state since has received a response, and means the older one.
 */
export function isRepeatedSave(
  { document, entries }: DocumentWithLog,
  etag: string,
  sender: string | null,
  now: number,
): boolean {
  const saves = (document.recent_saves ?? []).filter(({ at }) => at > now - REMEMBERED_MS);
  const nth = saves.findLastIndex((save) => save.etag === etag);
  const own = nth < 0 ? undefined : saves[nth];
  if (own === undefined) return false;
  if (own.isMerged) return true;
  const later = saves.slice(nth + 1);
  if (later.some(({ by, isMerged }) => by === sender && !isMerged)) return false;
  const position = entries.at(-1)?.position ?? document.content?.position ?? 0;
  return later.length > 0 || position > own.position;
}
