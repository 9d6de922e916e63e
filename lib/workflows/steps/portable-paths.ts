import { toLocal, toShared } from "../workspaces/paths.ts";
import type { StepDeps } from "./context.ts";

type TravelDeps = Pick<StepDeps, "paths" | "workspaceSync">;

/** Replaces this machine's workspace paths in a value by names that every machine understands. */
export function toPortablePaths<Value>({ paths, workspaceSync }: TravelDeps, value: Value): Value {
  return workspaceSync === undefined ? value : toShared(value, paths.workspacesDir);
}

/** Replaces portable workspace paths in a value by this machine's paths. */
export function toLocalPaths<Value>({ paths, workspaceSync }: TravelDeps, value: Value): Value {
  return workspaceSync === undefined ? value : toLocal(value, paths.workspacesDir);
}
