import { hasControlCharacter } from "../../events/control-characters.ts";
import type { EventDraft } from "../../events/publish.ts";
import type { Write } from "../../platform/tables.ts";
import type { WorkspaceChange } from "../workspaces/workspace-records.ts";

/** An event that reports a record, and its position in its batch. */
export interface RecordEvent {
  readonly at: number;
  readonly draft: EventDraft;
}

/** The effects of such events. */
export interface RecordEffects {
  /** By position: the event that is recorded in place of the draft; undefined for none. Absent: the draft itself. */
  readonly named: ReadonlyMap<number, EventDraft | undefined>;
  readonly writes: readonly Write[];
  readonly workspaces: readonly WorkspaceChange[];
}

export const DEFAULT_WORKSPACE = "default";
/** Longest workspace name of a record, characters. */
export const WORKSPACE_NAME_MAX_LENGTH = 1024;

/** The workspace of a record: the event's own, else the one in its data. */
export function workspaceOf({ workspace, data }: EventDraft): string {
  const named = data.workspace;
  const isUsable = typeof named === "string" && !hasControlCharacter(named);
  const name = workspace || (isUsable ? named : "") || DEFAULT_WORKSPACE;
  return name.slice(0, WORKSPACE_NAME_MAX_LENGTH);
}
