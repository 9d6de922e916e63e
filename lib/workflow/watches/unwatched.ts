import type { Trigger } from "../definition/types.ts";

/** Where workspaces are shared by machines no folder is there to be watched. */
export interface WatchingDeps {
  readonly sharesWorkspaces?: boolean;
}

export const UNWATCHED =
  "files are watched by a server on one machine alone; over AWS such a trigger fires by hand only";

/** What is to be said of watch triggers that nothing will fire, one line each. */
export function unwatchedTriggers(
  { sharesWorkspaces = false }: WatchingDeps,
  triggers: readonly Trigger[],
): string[] {
  if (!sharesWorkspaces) return [];
  return triggers.filter(({ type }) => type === "watch").map(({ name }) => `trigger ${name}: ${UNWATCHED}`);
}
