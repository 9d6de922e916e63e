import type { Trigger } from "../definition/types.ts";
import { SHARED_WORKSPACES_DIR } from "../workspaces/paths.ts";
import { fixedPart, isWithin } from "./pattern.ts";

/** Where machines share the workspaces nothing else of theirs can be watched. */
export interface WatchingDeps {
  readonly sharesWorkspaces?: boolean;
}

/** Why nothing will fire a trigger; undefined where something may. */
export function unwatchable(
  { sharesWorkspaces = false }: WatchingDeps,
  spec: Pick<Trigger, "type"> & { readonly path?: string },
): string | undefined {
  if (!sharesWorkspaces || spec.type !== "watch") return undefined;
  const { base } = fixedPart(spec.path ?? "", SHARED_WORKSPACES_DIR);
  return isWithin(base, SHARED_WORKSPACES_DIR)
    ? undefined
    : "must lie in the workspaces: machines share no other files";
}

/** What is to be said of watch triggers that nothing will fire, one line each. */
export const unwatchedTriggers = (deps: WatchingDeps, triggers: readonly Trigger[]): string[] =>
  triggers.flatMap((trigger) => {
    const why = unwatchable(deps, trigger);
    return why === undefined ? [] : [`trigger ${trigger.name}: path: ${why}`];
  });
