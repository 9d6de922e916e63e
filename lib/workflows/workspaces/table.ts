import type { Key, TableSpec } from "../../platform/tables.ts";

/** What makes up a workspace that machines share: keys of blobs with changes, oldest first. */
export interface StoredWorkspace extends Key {
  readonly layers: readonly string[];
  /** Moves with every change: the condition of the next one. */
  readonly version: number;
}

export const workspacesTable: TableSpec<StoredWorkspace> = { name: "workspace-layers", indexes: {} };

export const workspaceKey = (workspace: string): Key => ({ pk: workspace, sk: "layers" });
