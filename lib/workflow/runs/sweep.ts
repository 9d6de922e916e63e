import { COMMAND_SOURCE } from "../../events/publish.ts";
import type { BusEntry } from "../../platform/bus.ts";
import type { Ports } from "../../platform/ports.ts";
import { underWay } from "../engine/decide.ts";
import { type ConductDeps, programOf, STEP_REQUESTED, type StepCommand } from "./conduct.ts";
import { CONDUCT_QUEUE, startMessage } from "./create.ts";
import { runKey, runsTable, type StoredRun, stepKey, stepsTable } from "./table.ts";

/** A run that did not move for so long is looked at, milliseconds. */
const STALLED_AFTER_MS = 2 * 60 * 1000;
const PAGE = 100;

/**
 * Looks for runs that do not move on although nobody works on them, and sends again what they wait for. A
 * run whose steps are leased is at work, however long it takes.
 */
export async function resendStalled(deps: ConductDeps & Pick<Ports, "queues">): Promise<number> {
  const now = deps.clock.now();
  const stalled = await deps.tables.query(runsTable, {
    index: "active",
    pk: "1",
    sk: { to: new Date(now - STALLED_AFTER_MS).toISOString() },
    limit: PAGE,
  });
  let sent = 0;
  for (const run of stalled.items) if (await resend(deps, run, now)) sent += 1;
  if (sent > 0) deps.log.warn("stalled runs sent on", { count: sent });
  return sent;
}

async function resend(
  deps: ConductDeps & Pick<Ports, "queues">,
  run: StoredRun,
  now: number,
): Promise<boolean> {
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
    const { messages } = startMessage(run.run_id);
    await deps.queues.send(
      CONDUCT_QUEUE,
      messages.map(({ body, groupId }) => ({ body, groupId, deduplicationId: deps.ids.random() })),
    );
    return true;
  }
  const entries: BusEntry[] = [];
  for (const request of underWay(await programOf(deps, run), run.state)) {
    const step = await deps.tables.get(stepsTable, stepKey(run.run_id, request.key));
    const leased = step !== undefined && step.dispatch === request.dispatch && step.leased_until > now;
    if (leased) continue;
    const detail: StepCommand = { type: request.step_type, run_id: run.run_id, request };
    entries.push({ source: COMMAND_SOURCE, detailType: STEP_REQUESTED, detail: { ...detail } });
  }
  if (entries.length > 0) await deps.bus.publish(entries);
  return entries.length > 0;
}
