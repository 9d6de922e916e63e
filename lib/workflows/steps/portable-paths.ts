import { toLocal, toShared } from "../workspaces/paths.ts";
import type { StepDeps } from "./context.ts";

type TravelDeps = Pick<StepDeps, "paths" | "workspaceSync">;

/** A value that leaves this machine: paths of workspaces as they are understood on any. */
export function toPortablePaths<Value>({ paths, workspaceSync }: TravelDeps, value: Value): Value {
  return workspaceSync === undefined ? value : toShared(value, paths.workspacesDir);
}

/** A value that has come to this machine: paths of workspaces as they are here. */
export function toLocalPaths<Value>({ paths, workspaceSync }: TravelDeps, value: Value): Value {
  return workspaceSync === undefined ? value : toLocal(value, paths.workspacesDir);
}
