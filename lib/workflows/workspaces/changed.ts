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
