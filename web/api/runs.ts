import type { Schemas } from "../../client/api.ts";
import type { StateName } from "../components/state.tsx";

export type Run = Schemas["Run"];

/** A run that waits for a slot is pending for the service, and queued for people. */
export const stateOf = ({ status, is_queued }: Run): StateName => (is_queued ? "queued" : status);

export const isFinished = ({ status }: Pick<Run, "status">): boolean =>
  status === "completed" || status === "failed" || status === "cancelled";

/** Time from its start to its end, or until now, milliseconds; undefined if it has not started. */
export function durationOf({ started_at, completed_at }: Run, now: number): number | undefined {
  if (started_at === null) return undefined;
  return (completed_at === null ? now : Date.parse(completed_at)) - Date.parse(started_at);
}
