import type { StoredEvent } from "../../events/log/table.ts";
import { canonicalTopic } from "../../events/topic-match.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Key } from "../../platform/tables.ts";
import { artifactList } from "../artifacts/table.ts";
import { assetList } from "../assets/table.ts";
import { deadLetterList } from "../dead-letters/table.ts";
import { isTerminal } from "../engine/history.ts";
import { indexPending, indexRecords } from "../lists/index-list.ts";
import { allOf, type List, type ListDeps, recordsOf } from "../lists/list.ts";
import { moveOldEntries } from "../lists/table.ts";
import { runList } from "../runs/run-list.ts";
import { indexSteps, sweepSteps } from "../runs/step-results.ts";
import { vulnerabilityList } from "../vulnerabilities/table.ts";
import { workspaceList } from "../workspaces/workspace-records.ts";

/** The fields of an event that determine which lists to index. */
export type IndexedEvent = Pick<StoredEvent, "topic" | "run_id">;

const ENDS_OF_RUNS: ReadonlySet<string> = new Set(["run.completed", "run.failed", "run.cancelled"]);

/** Pending entries of each partition that are processed along with a message: usually all of them. */
const PENDING_PER_PARTITION = 250;
/** Maximum number of unfinished runs outside of the index; a read has to look at each of them. */
const RUNS_WAITING_MAX = 30;
/** The same where partitions have limits: to index a run as unfinished takes as many writes as to index its end. */
const LIMITED_RUNS_WAITING_MAX = 1_500;
/** Age until which a run may be left out of the index while later ones are indexed, there, milliseconds. */
const LEFT_OUT_MS = 10_000;
/** Pending entries of each partition per pass of a sweep, and maximum number of passes. */
const SWEPT_A_PARTITION = 100;
const SWEEPS_MAX = 100;
/** Number of runs that are looked at together. */
const RUNS_AT_ONCE = 500;

/**
 * Updates the lists that events change: assets and vulnerabilities are created by events only; a run ends with an
 * event, after its artifacts; a workspace is created with the first of any of them. `many` says that more events are
 * waiting.
 */
export async function indexEventRecords(
  deps: ListDeps & Pick<Ports, "clock">,
  events: readonly IndexedEvent[],
  many: boolean,
): Promise<void> {
  const ended = events.flatMap(({ topic, run_id }) =>
    ENDS_OF_RUNS.has(topic) && run_id !== "" ? [run_id] : [],
  );
  const some = (...topics: readonly string[]): boolean =>
    events.some(({ topic }) => topics.includes(canonicalTopic(topic)));
  await Promise.all([
    indexSteps(deps, ended),
    ended.length > 0 || (many && some("run.started")) ? indexRuns(deps, ended) : undefined,
    some("asset.discovered", "asset.updated")
      ? indexPending(deps, assetList, PENDING_PER_PARTITION)
      : undefined,
    some("vuln.found") ? indexPending(deps, vulnerabilityList, PENDING_PER_PARTITION) : undefined,
    some("run.started", "asset.discovered", "vuln.found")
      ? indexPending(deps, workspaceList, PENDING_PER_PARTITION)
      : undefined,
    ended.length > 0 ? indexPending(deps, artifactList, PENDING_PER_PARTITION) : undefined,
  ]);
}

/**
 * Indexes runs when they end, so most are indexed once; earlier runs are indexed with them, since numbers follow
 * creation order. Unfinished runs are indexed when there are too many of them.
 */
async function indexRuns(deps: ListDeps & Pick<Ports, "clock">, ended: readonly string[]): Promise<void> {
  const pendingEntries = await allOf(deps, runList.name, "pending", PENDING_PER_PARTITION);
  const endedIds = new Set(ended);
  const last = pendingEntries.reduce(
    (max, { sk, order = "" }) => (endedIds.has(sk) && order > max ? order : max),
    "",
  );
  const isLimited = deps.tables.partitionLimits === true;
  const youngest = isLimited ? new Date(deps.clock.now() - LEFT_OUT_MS).toISOString() : last;
  const due =
    pendingEntries.length > (isLimited ? LIMITED_RUNS_WAITING_MAX : RUNS_WAITING_MAX)
      ? pendingEntries
      : pendingEntries.filter(
          ({ sk, order = "" }) => order <= last && (order <= youngest || endedIds.has(sk)),
        );
  await indexRecords(deps, runList, [...due.map(({ sk }) => sk), ...ended], due);
}

/** Indexes records whose message was lost. */
export async function sweepLists(deps: ListDeps): Promise<void> {
  for (const list of ["runs", "steps"] as const)
    for (const kind of ["pending", "entry"] as const)
      await moveOldEntries(deps, list, await allOf(deps, list, kind), kind);
  await sweepMarks(deps, runList);
  await sweepSteps(deps);
  await sweepMarks(deps, assetList);
  await sweepMarks(deps, vulnerabilityList);
  await sweepMarks(deps, artifactList);
  await sweepMarks(deps, workspaceList);
  await sweepMarks(deps, deadLetterList);
  const active = (await allOf(deps, runList.name, "entry")).map(({ sk }) => sk);
  for (let start = 0; start < active.length; start += RUNS_AT_ONCE) {
    const runs = await recordsOf(deps, runList, active.slice(start, start + RUNS_AT_ONCE));
    const ended = [...runs.values()].filter(({ status }) => isTerminal(status));
    await indexRecords(
      deps,
      runList,
      ended.map(({ run_id }) => run_id),
    );
  }
}

async function sweepMarks<Item extends Key>(deps: ListDeps, list: List<Item>): Promise<void> {
  for (let sweep = 0; sweep < SWEEPS_MAX; sweep += 1) {
    const pendingEntries = await indexPending(deps, list, SWEPT_A_PARTITION);
    if (pendingEntries < SWEPT_A_PARTITION) return;
  }
}
