import type { BusEntry } from "../../platform/bus.ts";
import { type CatalogReader, enabledWatchTriggers } from "../store/catalog.ts";

/**
 * Returns the bus entries that notify watch triggers of a new layer of a workspace, to be published with it; none if no
 * trigger watches files.
 */
export async function workspaceChangedEntries(
  { catalog }: { readonly catalog: CatalogReader },
  changed: WorkspaceChanged,
): Promise<BusEntry[]> {
  if (enabledWatchTriggers(await catalog.current()).size === 0) return [];
  return [{ source: WORKSPACE_SOURCE, detailType: WORKSPACE_CHANGED, detail: { ...changed } }];
}

/** Event source of changes by steps to workspaces that machines share. */
export const WORKSPACE_SOURCE = "weft.workspaces";

export const WORKSPACE_CHANGED = "workspace.changed";

/** Detail of `workspace.changed`. */
export interface WorkspaceChanged {
  readonly workspace: string;
  /** Key of the blob with the changes. */
  readonly layer: string;
  /** The earlier layers, oldest first. */
  readonly earlier: readonly string[];
  /** Hop of the runs that the change triggers. */
  readonly hop: number;
  readonly root_cause?: string;
}
