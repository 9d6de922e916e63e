import type { Ports } from "../../platform/ports.ts";
import type { Request } from "../engine/decide.ts";
import { isTerminal } from "../engine/history.ts";
import { newStepRow } from "../runs/conduct.ts";
import { runKey, runsTable, type StoredRun, type StoredStep, stepKey, stepsTable } from "../runs/table.ts";

/** How long an executor holds a step without a sign of life, milliseconds. */
export const LEASE_MS = 30_000;
const RENEW_EVERY_MS = 10_000;
/** How often a running step looks whether its run was cancelled, milliseconds. */
const CANCEL_POLL_MS = 400;

export type LeaseDeps = Pick<Ports, "tables" | "clock" | "instances" | "log">;

export interface Lease {
  /** The fencing token: how often the step was taken, from 1. */
  readonly attempt: number;
  readonly startedAt: number;
}

/**
 * Takes a step for this process, unless its result is recorded, its run is over, or another process that
 * lives holds it. At most one lease of a step is alive at any time.
 */
export async function takeLease(
  deps: LeaseDeps,
  run: StoredRun,
  request: Request,
  module: string,
): Promise<Lease | undefined> {
  const now = deps.clock.now();
  const started = new Date(now).toISOString();
  const key = stepKey(run.run_id, request.key);
  const held = {
    owner: deps.instances.id,
    leased_until: now + LEASE_MS,
    dispatch: request.dispatch,
    attempt: 1,
  };
  const row: StoredStep = {
    ...key,
    ...newStepRow(run.run_id, request.key, request.step, request.step_type, module, started),
    status: "running",
    error_message: "",
    completed_at: null,
    ...held,
  };
  const first = await deps.tables.write([
    { op: "put", table: stepsTable, item: row, when: [["pk", "missing"]] },
  ]);
  if (first.ok) return { attempt: 1, startedAt: now };
  const before = await deps.tables.get(stepsTable, key);
  if (before === undefined || before.dispatch > request.dispatch) return undefined;
  if (before.dispatch === request.dispatch && before.status !== "running") return undefined;
  if (before.leased_until > now && !deps.instances.isGone(before.owner)) return undefined;
  // A container is asked for twice, to enter and to leave: each request counts its own attempts.
  const attempt = before.dispatch === request.dispatch ? before.attempt + 1 : 1;
  const taken = await deps.tables.update(stepsTable, key, { set: { ...held, attempt, status: "running" } }, [
    ["attempt", "=", before.attempt],
    ["dispatch", "=", before.dispatch],
  ]);
  return taken === undefined ? undefined : { attempt, startedAt: Date.parse(before.started_at) };
}

/** Gives up a lease, so that the next delivery of the request need not wait until it runs out. */
export async function releaseLease(
  deps: LeaseDeps,
  runId: string,
  request: Request,
  lease: Lease,
): Promise<void> {
  await deps.tables.update(stepsTable, stepKey(runId, request.key), { set: { leased_until: 0 } }, [
    ["attempt", "=", lease.attempt],
    ["dispatch", "=", request.dispatch],
    ["status", "=", "running"],
  ]);
}

export interface Watch {
  readonly signal: AbortSignal;
  /** True where the run is over or the lease is another's: the result is nobody's any more. */
  isLost(): boolean;
  stop(): void;
}

/** Renews a lease and watches for the run's end while the step runs. */
export function watchLease(
  deps: LeaseDeps,
  runId: string,
  request: Request,
  lease: Lease,
  outer: AbortSignal,
): Watch {
  const controller = new AbortController();
  let lost = false;
  let renewedAt = lease.startedAt;
  let busy = false;
  const lose = (): void => {
    lost = true;
    controller.abort();
  };
  const look = async (): Promise<void> => {
    const run = await deps.tables.get(runsTable, runKey(runId));
    if (run === undefined || isTerminal(run.status)) return lose();
    const now = deps.clock.now();
    if (now - renewedAt < RENEW_EVERY_MS) return;
    const renewed = await deps.tables.update(
      stepsTable,
      stepKey(runId, request.key),
      { set: { leased_until: now + LEASE_MS } },
      [
        ["attempt", "=", lease.attempt],
        ["dispatch", "=", request.dispatch],
      ],
    );
    if (renewed === undefined) return lose();
    renewedAt = now;
  };
  const timer = setInterval(() => {
    if (busy || lost) return;
    busy = true;
    look()
      .catch((error: unknown) =>
        deps.log.warn("lease could not be renewed", { run: runId, step: request.key, error }),
      )
      .finally(() => {
        busy = false;
      });
  }, CANCEL_POLL_MS);
  timer.unref();
  const onOuter = (): void => controller.abort();
  outer.addEventListener("abort", onOuter, { once: true });
  if (outer.aborted) controller.abort();
  return {
    signal: controller.signal,
    isLost: () => lost,
    stop: () => {
      clearInterval(timer);
      outer.removeEventListener("abort", onOuter);
    },
  };
}
