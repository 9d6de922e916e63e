import type { BusEntry } from "../../platform/bus.ts";
import { type CatalogReader, enabledWatchTriggers } from "../store/catalog.ts";

/**
 * What tells watch triggers of a layer that has come to a workspace, to be published with it: nothing where no
 * trigger watches files.
 */
export async function workspaceChangedEntries(
  { catalog }: { readonly catalog: CatalogReader },
  changed: WorkspaceChanged,
): Promise<BusEntry[]> {
  if (enabledWatchTriggers(await catalog.current()).size === 0) return [];
  return [{ source: WORKSPACE_SOURCE, detailType: WORKSPACE_CHANGED, detail: { ...changed } }];
}

/** Of what the bus is told when a step has changed files of a workspace that machines share. */
export const WORKSPACE_SOURCE = "weft.workspaces";

export const WORKSPACE_CHANGED = "workspace.changed";

/** Detail of `workspace.changed`. */
export interface WorkspaceChanged {
  readonly workspace: string;
  /** Key of the blob with what was changed. */
  readonly layer: string;
  /** Those that it came upon, oldest first. */
  readonly earlier: readonly string[];
  /** Of what it sets off. */
  readonly hop: number;
  readonly root_cause?: string;
}
