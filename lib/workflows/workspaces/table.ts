import type { Key, TableSpec } from "../../platform/tables.ts";

/** The contents of a workspace that machines share: keys of blobs with changes, oldest first. */
export interface StoredWorkspace extends Key {
  readonly layers: readonly string[];
  /** Incremented with every change; the condition of the next write. */
  readonly version: number;
}

export const workspacesTable: TableSpec<StoredWorkspace> = { name: "workspace-layers", indexes: {} };

export const workspaceKey = (workspace: string): Key => ({ pk: workspace, sk: "layers" });
