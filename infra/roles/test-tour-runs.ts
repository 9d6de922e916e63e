import type { Ports } from "../../lib/platform/ports.ts";
import { timersTable } from "../../lib/platform/timers-table.ts";
import { WAITING } from "../../lib/workflows/runs/admission.ts";
import { runKey, runQueueTable, runsTable } from "../../lib/workflows/runs/table.ts";
import type { Installation } from "./test-installation.ts";
import { type Client, waitUntil } from "./test-tour-client.ts";

/** Larger than the item of a value. */
const LONG = "l".repeat(40_000);

interface Run {
  readonly id: number;
  readonly run_id: string;
  readonly status: string;
}
interface Job {
  readonly job_id: string;
  readonly run_ids: readonly string[];
}

/** Fails immediately, again after a delay, and then permanently. */
export const FAILING = `
name: failing
steps:
  - {name: first, type: function, function: 'trim("{{note}}")'}
  - name: at-once
    type: function
    function: nothing.at.all
    retry: {max_attempts: 2, delay: 0}
    on_error: [{action: continue}]
  - {name: later, type: function, function: nothing.at.all, retry: {max_attempts: 2, delay: 4s}}
`;

/** Its step waits for its second attempt, for longer than the clock of any function is ahead. */
const POSTPONED = `
name: postponed
steps:
  - {name: later, type: function, function: nothing.at.all, retry: {max_attempts: 2, delay: 1d}}
`;

const job = (client: Client, module: string): Promise<Job> =>
  client.send("POST", "/automation/runs", { module, targets: ["a", "b"], concurrency: 1 });

/**
 * A job of two runs with a concurrency of one, whose first run has finished without starting the next: the sweep
 * does.
 */
export async function createQueuedRun(client: Client, { tables }: Pick<Ports, "tables">): Promise<void> {
  const { run_ids } = await job(client, "triggered");
  const set = { status: "cancelled", moved_at: new Date(0).toISOString() };
  await tables.update(runsTable, runKey(run_ids[0] ?? ""), { set });
}

/** A run that waits although there is a free slot: the sweep dispatches it. */
export async function createWaitingRun(runId: string, { tables }: Pick<Ports, "tables">): Promise<void> {
  const item = { pk: WAITING, sk: "0#2020", run_id: runId };
  await tables.write([{ op: "put", table: runQueueTable, item }]);
}

/**
 * A run that waits for the next attempt of a step, as stalled for the sweep as it looks a few minutes later: its timer
 * is set again.
 */
export async function stallBeforeRetry(
  client: Client,
  { outside: { tables }, call }: Pick<Installation, "call" | "outside">,
  sweep: unknown,
): Promise<void> {
  await client.send("POST", "/automation/workflows", POSTPONED);
  const { run_id } = await client.send<Run>("POST", "/automation/runs", { module: "postponed" });
  await waitUntil("the timer of an attempt", async () => {
    const { items } = await tables.query(timersTable, { index: "byTime", pk: "due", limit: 100 });
    return items.some(({ pk }) => pk.startsWith(`retry:${run_id}:`));
  });
  await tables.update(runsTable, runKey(run_id), { set: { moved_at: new Date(0).toISOString() } });
  await call("SweepFunction", sweep);
  await client.send("DELETE", `/automation/runs/${run_id}`);
}

/** Runs that are rerun in every way, and jobs. `sweep` is the schedule of each minute. */
export async function rerunRuns(
  client: Client,
  at: Pick<Installation, "call">,
  sweep: () => unknown,
): Promise<void> {
  const runs = "/automation/runs";
  const waitForStatus = (id: string, status: string): Promise<void> => {
    let run: Run | undefined;
    return waitUntil(
      () => `a run to be ${status}: ${JSON.stringify(run)}`,
      async () => {
        await at.call("SweepFunction", sweep());
        run = (await client.send<{ data: Run }>("GET", `${runs}/${id}`)).data;
        return run.status === status;
      },
    );
  };
  const start = async (body: object): Promise<string> =>
    (await client.send<Run>("POST", runs, { target: "somebody", ...body })).run_id;

  await client.send("POST", "/automation/workflows", FAILING);
  const failing = await start({ module: "failing", params: { note: LONG }, timeout: 60 });
  await waitForStatus(failing, "failed");
  const rerun = async (how: string, body: object = {}): Promise<string> =>
    (await client.send<Run>("POST", `${runs}/${failing}/${how}`, body)).run_id;
  await waitForStatus(await rerun("resume"), "failed");
  const [step] = (await client.send<{ data: { step_name: string }[] }>("GET", `${runs}/${failing}/steps`))
    .data;
  await waitForStatus(await rerun("replay", { step: step?.step_name, params: { note: LONG } }), "failed");
  await waitForStatus(await rerun("rerun", { params: { note: LONG } }), "failed");
  const twin = await rerun("duplicate");
  await client.send("POST", `${runs}/${twin}/start`, {});
  await waitForStatus(twin, "failed");
  const { data } = await client.send<{ data: Run }>("GET", `${runs}/${twin}`);
  await client.send("GET", `${runs}/${data.id}`);
  await client.status(`${runs}/${twin}/log`);
  await client.status(`${runs}/${twin}/output?step=${step?.step_name}`);
  await client.send("POST", `${runs}/rerun`, { ids: [twin] });
  // It ends, because the run has finished.
  await client.status(`${runs}/${twin}/stream`);

  const { job_id } = await job(client, "waiting");
  await client.send("GET", `/automation/jobs/${job_id}`);
  await client.send("DELETE", `/automation/jobs/${job_id}`);
}
