import { ApiError } from "../../errors.ts";
import {
  type Admission,
  type Cause,
  type EventDeps,
  type EventDraft,
  emitEvents,
} from "../../events/publish.ts";
import type { TopicData } from "../../events/topics.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Key } from "../../platform/tables.ts";
import { triggerStateTable } from "../store/trigger-tables.ts";
import { rootCauseOf, runKey, runsTable } from "./table.ts";

/** How long the runs of a root cause are counted after its latest run, milliseconds. */
const COUNTED_FOR_MS = 30 * 24 * 60 * 60 * 1000;

type BudgetDeps = Pick<Ports, "tables" | "clock" | "log">;

/**
 * Limits the number of runs that one root cause may start through its runs: bounds a fan-out that the hop limit does
 * not.
 */
export interface RunBudget {
  /**
   * Admits the runs that an event with a hop starts, with one write per event; events from outside need none. Each root
   * cause has its own item, which spreads the writes. A retried transaction may count its runs twice.
   */
  admit(event: EventDraft, runs: number): Promise<Admission>;
  /** Prevents a root cause from starting further runs. */
  close(rootCause: string): Promise<void>;
}

export function runBudget(deps: BudgetDeps, limit: number): RunBudget {
  const count = async (rootCause: string, runs: number): Promise<number> => {
    const until = new Date(deps.clock.now() + COUNTED_FOR_MS).toISOString();
    const change = { add: { runs }, set: { expires: "1", until } };
    return (await deps.tables.update(triggerStateTable, budgetKey(rootCause), change))?.runs ?? runs;
  };
  return {
    admit: async (event, runs) => {
      const rootCause = event.root_cause ?? (await rootCauseOfRun(deps, event.run_id));
      if (rootCause === undefined) return { granted: runs };
      const after = await count(rootCause, runs);
      const before = after - runs;
      const granted = Math.max(0, Math.min(runs, limit - before));
      const admission = { granted, root_cause: rootCause };
      // Only one event takes the count over the limit, so the message is logged once per root cause.
      if (granted === runs || before > limit) return admission;
      deps.log.error("run budget exhausted", { root_cause: rootCause, limit });
      return { ...admission, refusal: refusalDraft(event, rootCause, limit) };
    },
    close: async (rootCause) => {
      await count(rootCause, limit + 1);
    },
  };
}

const budgetKey = (rootCause: string): Key => ({ pk: `root:${rootCause}`, sk: "runs" });

async function rootCauseOfRun(deps: BudgetDeps, runId: string | undefined): Promise<string | undefined> {
  if (runId === undefined || runId === "") return undefined;
  const run = await deps.tables.get(runsTable, runKey(runId));
  return run === undefined ? undefined : rootCauseOf(run);
}

function refusalDraft(event: EventDraft, rootCause: string, limit: number): EventDraft {
  const { topic, run_id = "", workflow_name = "", workspace = "", hop = 0 } = event;
  const error = `the root cause ${rootCause} has started ${limit} runs through other runs, the limit of RUNS_PER_ROOT_CAUSE_MAX: no further runs are started for it`;
  const data: TopicData<"run.refused"> = { root_cause: rootCause, limit, topic, error };
  return {
    topic: "run.refused",
    name: "run-budget-exhausted",
    source: "executor",
    data_type: "scan",
    data,
    run_id,
    workflow_name,
    workspace,
    hop,
    root_cause: rootCause,
    error,
  };
}

/** Throws `bad_request` if the requested runs exceed the budget of their root cause. */
export async function requireRunBudget(deps: EventDeps, cause: Cause, runs = 1): Promise<void> {
  if ((cause.hop ?? 0) === 0) return;
  const draft = { topic: "run.requested", source: "api", data: {}, ...cause };
  const admission = await deps.matcher.admit?.(draft, runs);
  if (admission === undefined || admission.granted === runs) return;
  if (admission.refusal !== undefined) await emitEvents(deps, [admission.refusal]);
  throw new ApiError(
    "bad_request",
    `The root cause ${admission.root_cause} has used its budget of runs (RUNS_PER_ROOT_CAUSE_MAX)`,
  );
}
