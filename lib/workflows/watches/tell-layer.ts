import type { BusEntry } from "../../platform/bus.ts";
import type { CatalogReader } from "../triggers/matcher.ts";
import { WORKSPACE_CHANGED, WORKSPACE_SOURCE, type WorkspaceChanged } from "../workspaces/changed.ts";
import { wantedTriggers } from "./wanted.ts";

/**
 * What tells watch triggers of a layer that has come to a workspace, to be published with it: nothing where no
 * trigger watches files.
 */
export async function layerEntries(
  { catalog }: { readonly catalog: CatalogReader },
  changed: WorkspaceChanged,
): Promise<BusEntry[]> {
  if (wantedTriggers(await catalog.current()).size === 0) return [];
  return [{ source: WORKSPACE_SOURCE, detailType: WORKSPACE_CHANGED, detail: { ...changed } }];
}
