import type { Trigger } from "../schema/types.ts";
import { SHARED_WORKSPACES_DIR } from "../workspaces/paths.ts";
import { fixedPart, isWithin, readPattern } from "./path-pattern.ts";

export interface WatchingDeps {
  /** If machines share workspaces, only files in workspaces can be watched. */
  readonly sharesWorkspaces?: boolean;
  /** Absolute. */
  readonly workspacesDir: string;
  readonly watchRoots: readonly string[];
}

/** Why a watch trigger cannot fire; undefined if it can. */
export async function unwatchableReason(
  { sharesWorkspaces = false, workspacesDir, watchRoots }: WatchingDeps,
  spec: Pick<Trigger, "type"> & { readonly path?: string },
): Promise<string | undefined> {
  if (spec.type !== "watch" || spec.path === undefined) return undefined;
  if (sharesWorkspaces) {
    const { base } = fixedPart(spec.path, SHARED_WORKSPACES_DIR);
    return isWithin(base, SHARED_WORKSPACES_DIR)
      ? undefined
      : "must be in the workspaces, because machines share no other files";
  }
  return readPattern(spec.path, workspacesDir, watchRoots).then(
    () => undefined,
    (error: Error) => error.message,
  );
}

/** Warnings about watch triggers that cannot fire, one line each. */
export async function unwatchableTriggers(
  deps: WatchingDeps,
  triggers: readonly Trigger[],
): Promise<string[]> {
  const reasons = await Promise.all(triggers.map((trigger) => unwatchableReason(deps, trigger)));
  return triggers.flatMap(({ name }, at) =>
    reasons[at] === undefined ? [] : [`trigger ${name}: path: ${reasons[at]}`],
  );
}
