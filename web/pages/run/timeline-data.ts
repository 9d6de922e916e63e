import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { dataOf, type Schemas } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import type { StateName } from "../../components/state.tsx";

export type TimelineStep = Schemas["TimelineStep"];

/** Most that the service returns at once. */
const PAGE_SIZE = 10_000;

export const runKey = (id: string): readonly string[] => ["run", id];
export const timelineKey = (id: string): readonly string[] => ["run", id, "timeline"];

async function readTimeline(id: string, signal: AbortSignal): Promise<readonly TimelineStep[]> {
  const steps: TimelineStep[] = [];
  for (;;) {
    const { data, pagination } = await dataOf(
      api.GET("/automation/runs/{id}/timeline", {
        params: { path: { id }, query: { offset: steps.length, limit: PAGE_SIZE } },
        signal,
      }),
    );
    steps.push(...data);
    if (data.length === 0 || steps.length >= pagination.total) return steps;
  }
}

/** All steps of a run in their order. The stream of the run says when it has changed. */
export const useTimeline = (id: string): UseQueryResult<readonly TimelineStep[]> =>
  useQuery({
    queryKey: timelineKey(id),
    queryFn: ({ signal }) => readTimeline(id, signal),
    // Only what has changed is drawn again, and steps are compared one by one.
    structuralSharing: (before, after) =>
      shareSteps(before as readonly TimelineStep[] | undefined, after as readonly TimelineStep[]),
  });

/** Keeps the objects of steps that are the same as before. */
function shareSteps(
  before: readonly TimelineStep[] | undefined,
  after: readonly TimelineStep[],
): readonly TimelineStep[] {
  if (before === undefined) return after;
  return after.map((step, index) => {
    const known = before[index];
    return known !== undefined && isSame(known, step) ? known : step;
  });
}

const isSame = (one: TimelineStep, other: TimelineStep): boolean =>
  one.key === other.key &&
  one.status === other.status &&
  one.completed_at === other.completed_at &&
  one.retry_at === other.retry_at &&
  one.attempts.length === other.attempts.length &&
  one.items?.states === other.items?.states &&
  one.items?.step === other.items?.step;

/** The state of a step for people. */
export const stateOfStep = ({ status }: Pick<TimelineStep, "status">): StateName => status;

/** Time from its start to its end, or until now, milliseconds. */
export const durationOfStep = (
  { started_at, completed_at }: Pick<TimelineStep, "started_at" | "completed_at">,
  now: number,
): number => (completed_at === null ? now : Date.parse(completed_at)) - Date.parse(started_at);

/** How deep each step is inside of others, by key. */
export function depthsOf(steps: readonly TimelineStep[]): ReadonlyMap<string, number> {
  const depths = new Map<string, number>();
  for (const { key, parent } of steps) depths.set(key, parent === null ? 0 : (depths.get(parent) ?? 0) + 1);
  return depths;
}
