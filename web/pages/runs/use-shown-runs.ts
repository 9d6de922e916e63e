import { useState } from "react";
import type { Run } from "../../api/runs.ts";

interface ShownRuns {
  readonly shown: readonly Run[];
  /** Runs that have started since, and are not shown yet. */
  readonly count: number;
  readonly showAll: () => void;
}

/**
 * The runs that were there when the list was opened, as they are now: others are added only when the user asks for
 * them, so that no row moves under the pointer. `list` names the list, by its filters and page.
 */
export function useShownRuns(list: string, runs: readonly Run[]): ShownRuns {
  const [known, setKnown] = useState<{ readonly list: string; readonly ids: ReadonlySet<string> }>();
  const isSame = known?.list === list;
  if (!isSame) setKnown({ list, ids: new Set(runs.map(({ run_uuid }) => run_uuid)) });
  const ids = isSame ? known.ids : undefined;
  const shown = ids === undefined ? runs : runs.filter(({ run_uuid }) => ids.has(run_uuid));
  return {
    shown,
    count: runs.length - shown.length,
    showAll: () => setKnown(undefined),
  };
}
