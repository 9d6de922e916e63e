import { hasControlCharacter } from "../../events/control-characters.ts";
import type { EventDraft } from "../../events/publish.ts";
import type { Write } from "../../platform/tables.ts";
import type { WorkspaceChange } from "../workspaces/workspace-records.ts";

/** An event that tells of a record, and its place among those that are settled together. */
export interface RecordEvent {
  readonly at: number;
  readonly draft: EventDraft;
}

/** What tellings come to. */
export interface RecordEffects {
  /** By place, where it is not the draft itself: the event that is recorded instead, undefined for none. */
  readonly named: ReadonlyMap<number, EventDraft | undefined>;
  readonly writes: readonly Write[];
  readonly workspaces: readonly WorkspaceChange[];
}

export const DEFAULT_WORKSPACE = "default";
/** Longest name of a workspace that records are kept under, characters. */
export const WORKSPACE_NAME_MAX_LENGTH = 1024;

/** The workspace of a record: the event's own, or the one that its data names. */
export function workspaceOf({ workspace, data }: EventDraft): string {
  const named = data.workspace;
  const isUsable = typeof named === "string" && !hasControlCharacter(named);
  const name = workspace || (isUsable ? named : "") || DEFAULT_WORKSPACE;
  return name.slice(0, WORKSPACE_NAME_MAX_LENGTH);
}
