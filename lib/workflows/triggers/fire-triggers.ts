import type { Match } from "../../events/log/table.ts";
import type { EventDraft, MatchResult } from "../../events/publish.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import type { ReadyTrigger } from "../store/catalog.ts";
import { claimKey, claimOf } from "./dedupe.ts";
import { FILTERS_MS, findFailedFilter, type ScriptDeps } from "./event-filters.ts";
import type { RateBreaker } from "./rate-breaker.ts";
import type { EventValues } from "./trigger-input.ts";

export type MatcherDeps = ScriptDeps & Pick<Ports, "tables" | "clock" | "log">;
export type FireTriggers = typeof fireTriggers;

/** Maximum characters of a filter in a note. */
const NOTED_FILTER_MAX = 80;

/** The triggers among those of an event's topic that it fires: by their filters, rates and deduplication keys. */
export async function fireTriggers(
  deps: MatcherDeps,
  breaker: RateBreaker,
  event: EventDraft,
  fitting: readonly ReadyTrigger[],
  { earlier, writesMax }: { readonly earlier: readonly Write[]; readonly writesMax: number },
): Promise<MatchResult> {
  const values = draftValues(event);
  const notes: string[] = [];
  const writes: Write[] = [];
  const matches: Match[] = [];
  const passed = await filtered(deps, fitting, values, notes);
  for (const { scheduleId, spec, matches: _, ...match } of passed) {
    const key = claimOf(scheduleId, spec, values);
    const claim = await claimKey(deps, key, [...earlier, ...writes]);
    if (claim.taken) continue;
    if (!(await breaker.take(scheduleId))) {
      notes.push(`${rateNote(match)}${breaker.reason}`);
      continue;
    }
    const isLater = claim.write !== undefined && earlier.length + writes.length >= writesMax;
    if (claim.write !== undefined && !isLater) writes.push(claim.write);
    matches.push(isLater && key !== undefined ? { ...match, claim: key } : match);
  }
  return { matches, notes, writes };
}

/** The beginning of the note about a trigger that has fired too often. */
export const rateNote = ({ trigger, workflow }: Pick<Match, "trigger" | "workflow">): string =>
  `trigger ${trigger} of ${workflow} not fired: `;

async function filtered(
  deps: MatcherDeps,
  fitting: readonly ReadyTrigger[],
  values: EventValues,
  notes: string[],
): Promise<ReadyTrigger[]> {
  const isFiltered = ({ spec }: ReadyTrigger): boolean =>
    spec.filters.length + (spec.filter_functions?.length ?? 0) > 0;
  if (!fitting.some(isFiltered)) return [...fitting];
  const signal = AbortSignal.timeout(FILTERS_MS);
  const passes = await Promise.all(
    fitting.map(async ({ trigger, workflow, scheduleId, spec }) => {
      const failed = await findFailedFilter(deps, spec, values, signal);
      if (failed?.problem !== undefined) {
        const problem = `filter ${JSON.stringify(failed.filter.slice(0, NOTED_FILTER_MAX))}: ${failed.problem}`;
        notes.push(`trigger ${trigger} of ${workflow}: ${problem}`);
        deps.log.warn("filter failed", { schedule: scheduleId, problem });
      }
      return failed === undefined;
    }),
  );
  return fitting.filter((_, index) => passes[index]);
}

/** The event's values for filters and keys; the event has no id until it is recorded. */
export function draftValues({ topic, name, source, data_type, data, ...more }: EventDraft): EventValues {
  const event = {
    topic,
    name: name ?? topic,
    source,
    data_type: data_type ?? "",
    data,
    id: "",
    workspace: more.workspace ?? "",
    run_id: more.run_id ?? "",
    run_uuid: more.run_id ?? "",
    workflow_name: more.workflow_name ?? "",
  };
  return { event, event_data: data };
}
