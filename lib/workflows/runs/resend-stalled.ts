import type { Ports } from "../../platform/ports.ts";
import { underWay } from "../engine/decide.ts";
import { isTerminal } from "../engine/history.ts";
import { CONDUCT_QUEUE } from "../steps/messages.ts";
import { repeatedStart } from "./admission.ts";
import { type ConductDeps, endSteps, setTimers } from "./conduct.ts";
import { programOf } from "./running-steps.ts";
import { commandEntries } from "./step-commands.ts";
import { runKey, runsTable, type StoredRun, UNFINISHED } from "./table.ts";

/** A run that has not changed for this time is considered stalled, milliseconds. */
const STALLED_AFTER_MS = 2 * 60 * 1000;
const PAGE = 100;

/**
 * Finds stalled runs and resends the messages that they wait for. An executor that is already working on a step ignores
 * the duplicate request.
 */
export async function resendStalledRuns(deps: ConductDeps & Pick<Ports, "queues">): Promise<number> {
  const now = deps.clock.now();
  const stalled = await findStalled(deps, new Date(now - STALLED_AFTER_MS).toISOString());
  let sent = 0;
  for (const run of stalled) if (await resend(deps, run, now)) sent += 1;
  if (sent > 0) deps.log.warn("resumed stalled runs", { count: sent });
  return sent;
}

/** Of the unfinished runs that have not changed since a time, those that have not for the longest time. */
async function findStalled({ tables }: Pick<Ports, "tables">, since: string): Promise<StoredRun[]> {
  const range = { sk: { to: since }, limit: PAGE };
  const [old, ...pages] = await Promise.all([
    tables.query(runsTable, { index: "active", pk: "1", ...range }),
    ...UNFINISHED.map((pk) => tables.query(runsTable, { index: "unfinished", pk, ...range })),
  ]);
  const found = pages.flatMap(({ items }) =>
    items.map(({ pk, sk, moved_at = "" }) => ({ pk, sk, moved_at })),
  );
  // A resent run moves to the end, so that all have their turn, in whatever partition they are.
  const oldest = found.toSorted((a, b) => (a.moved_at < b.moved_at ? -1 : 1)).slice(0, PAGE);
  const runs = await tables.batchGet(
    runsTable,
    oldest.map(({ pk, sk }) => ({ pk, sk })),
  );
  return [...(old?.items ?? []), ...runs];
}

async function resend(
  deps: ConductDeps & Pick<Ports, "queues">,
  run: StoredRun,
  now: number,
): Promise<boolean> {
  if (isTerminal(run.status)) {
    await endSteps(deps, run);
    return false;
  }
  const claimed = await deps.tables.update(
    runsTable,
    runKey(run.run_id),
    { set: { moved_at: new Date(now).toISOString() } },
    [
      ["version", "=", run.version],
      ["moved_at", "=", run.moved_at ?? ""],
    ],
  );
  if (claimed === undefined) return false;
  if (run.status === "pending") {
    await deps.queues.send(CONDUCT_QUEUE, [repeatedStart(deps, run.run_id)]);
    return true;
  }
  const program = await programOf(deps, run);
  const requests = underWay(program, run.state);
  await setTimers(deps, run);
  await deps.bus.publish(await commandEntries(deps, run, run.state, program, requests));
  return requests.length > 0;
}
