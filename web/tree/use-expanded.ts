import { useEffect, useState } from "react";
import type { Document } from "../api/documents.ts";
import type { LoadedPages } from "./tree-data.ts";
import { TOP } from "./tree-rows.ts";

/** Which documents are expanded, and how much of the levels is loaded. */
interface Expanded {
  readonly loaded: LoadedPages;
  readonly has: (id: string) => boolean;
  readonly expand: (id: string) => void;
  readonly collapse: (id: string) => void;
  readonly loadMore: (parent: string) => void;
}

/** Remembered while the page is open, because the tree is not always shown. */
let remembered: LoadedPages = new Map([[TOP, 1]]);

/** The state of the tree. The documents above the open one are expanded when it is opened. */
export function useExpanded(path: readonly Document[]): Expanded {
  const [loaded, setLoaded] = useState(remembered);
  const change = (next: (current: LoadedPages) => LoadedPages): void =>
    setLoaded((current) => {
      remembered = next(current);
      return remembered;
    });
  const withExpanded = (current: LoadedPages, ids: readonly string[]): LoadedPages =>
    new Map([...current, ...ids.filter((id) => !current.has(id)).map((id) => [id, 1] as const)]);
  const above = path
    .slice(0, -1)
    .map(({ id }) => id)
    .join(" ");
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each open document
  useEffect(() => {
    if (above !== "") change((current) => withExpanded(current, above.split(" ")));
  }, [above]);
  return {
    loaded,
    has: (id) => loaded.has(id),
    expand: (id) => change((current) => withExpanded(current, [id])),
    collapse: (id) => change((current) => new Map([...current].filter(([other]) => other !== id))),
    loadMore: (parent) => change((current) => new Map(current).set(parent, (current.get(parent) ?? 0) + 1)),
  };
}
