import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { composeDeps } from "../../lib/app/compose.ts";
import { resendPending } from "../../lib/events/log/process.ts";
import { hashToken, ownerAuthenticator } from "../../lib/http/auth.ts";
import { openAws } from "../../lib/platform/aws/platform.ts";
import { silentLog } from "../../lib/platform/embedded/test-platform.ts";
import { readConfig } from "../../lib/settings/config.ts";
import { tables } from "../../lib/tables.ts";
import { type Page, startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import type { RunRecord } from "../../lib/workflows/runs/read.ts";
import { resendStalledRuns } from "../../lib/workflows/runs/resend-stalled.ts";
import { CONDUCT_QUEUE } from "../../lib/workflows/steps/messages.ts";
import { fireTriggers } from "../../lib/workflows/triggers/fire-triggers.ts";
import type { AwsProxy } from "./test-aws-proxy.ts";

const WEFT = fileURLToPath(new URL("../../bin/weft.js", import.meta.url));
/** Longer than the minimum age of a record that a sweep resends. */
const LATER_MS = 10 * 60_000;
/** Time before the first sweep. */
const FIRST_SWEEP_MS = 8_000;
/** Time between sweeps. */
const SWEEP_INTERVAL_MS = 3_000;
const DONE_MS = 90_000;
const PAUSE_MS = 250;
const CONDUCT = { name: CONDUCT_QUEUE, fifo: true, visibilitySeconds: 60, retentionSeconds: 345_600 };

export const STEPS = ["first", "second", "third"] as const;
export const WORKFLOW = `name: relay
triggers: [{name: called, type: event, topic: custom.relay, input: {target: event_data.target}}]
steps:
  - {name: first, type: bash, command: "echo {{Target}}; sleep 0.2"}
  - {name: second, type: function, function: 'to_upper_case("{{first_output}}")'}
  - {name: third, type: bash, command: "echo {{second_output}}"}
`;

/** Starts a server on a stack, behind a proxy. The server creates missing resources. */
export function startServerBehindProxy(
  proxy: AwsProxy,
  stack: string,
  dataDir?: string,
): Promise<TestServer> {
  return startTestServer({
    ...(dataDir === undefined ? {} : { dataDir }),
    program: [process.execPath, WEFT, "start", "--localstack"],
    env: { ...proxy.environment, WEFT_STACK: stack },
  });
}

/** Responses to the emitted events. */
export interface Acknowledged {
  /** Ids of events whose record was acknowledged. */
  readonly acknowledged: string[];
  /** Statuses and messages of the error responses. */
  readonly refusals: [status: number, message: string][];
}

/** Emits, without a retry, an event that starts a run of WORKFLOW. */
export async function emitRelay(
  weft: TestServer,
  responses: Acknowledged,
  target: string,
  more = {},
): Promise<void> {
  const body = { topic: "custom.relay", data: { target, ...more } };
  const { status, message, json } = await weft.call("POST", "/events/emit", { body });
  if (status >= 300) responses.refusals.push([status, message]);
  else responses.acknowledged.push((json as { event_id: string }).event_id.slice("evt_".length));
}

/** Runs the scheduled sweeps as of `laterMs` from now; the emulators do not fire schedules. */
async function sweepLater(stack: string, laterMs: number): Promise<void> {
  const nothing = { run: () => Promise.reject(new Error("nothing runs here")) };
  const platform = await openAws({
    stack,
    log: silentLog,
    commands: nothing,
    scripts: nothing,
    resources: { tables: Object.values(tables), queues: [CONDUCT], rules: [], schedules: [] },
    clock: { now: () => Date.now() + laterMs },
  });
  const deps = composeDeps(platform.ports, readConfig({}), {
    auth: ownerAuthenticator(hashToken("nobody asks")),
    paths: { workspacesDir: "", logsDir: "", snapshotsDir: "" },
    fireTriggers,
    queueNames: [],
    sharesWorkspaces: true,
  });
  try {
    await resendPending(deps, 100);
    await resendStalledRuns(deps);
  } finally {
    await platform.close();
  }
}

/** Returns the runs if every acknowledged event has one and all have ended, else `undefined`. */
async function finishedRuns(
  weft: TestServer,
  responses: Acknowledged,
): Promise<readonly RunRecord[] | undefined> {
  const answer = await weft.call("GET", "/runs?limit=1000");
  if (answer.status !== 200) return undefined;
  const { data } = answer.json as Page<RunRecord>;
  const known = new Set(data.map(({ event_id }) => event_id));
  const allStarted = responses.acknowledged.every((id) => known.has(id));
  return allStarted && data.every(({ completed_at }) => completed_at !== null) ? data : undefined;
}

/** Waits until the runs of all acknowledged events have ended, at most `atMostMs`: a failure may block them longer. */
export async function waitForRuns(
  weft: TestServer,
  responses: Acknowledged,
  atMostMs: number,
): Promise<void> {
  const end = performance.now() + atMostMs;
  while (performance.now() < end && (await finishedRuns(weft, responses)) === undefined)
    await sleep(PAUSE_MS);
}

/** Waits with repeated sweeps until all recorded events are processed and all runs have ended. Returns the runs. */
export async function readAllRuns(
  weft: TestServer,
  stack: string,
  responses: Acknowledged,
): Promise<readonly RunRecord[]> {
  await waitForRuns(weft, responses, FIRST_SWEEP_MS);
  let laterMs = 0;
  return waitUntil(
    "the end of all runs",
    async () => {
      laterMs += LATER_MS;
      await sweepLater(stack, laterMs);
      await waitForRuns(weft, responses, SWEEP_INTERVAL_MS);
      const unprocessed = await weft.events({ processed: "false" });
      return unprocessed.length === 0 && finishedRuns(weft, responses);
    },
    DONE_MS,
  );
}

/** Checks the records for lost acknowledged events and for duplicates. Returns the faults, none if all is well. */
export async function findRelayIssues(
  weft: TestServer,
  responses: Acknowledged,
  runs: readonly RunRecord[],
): Promise<string[]> {
  const faults: string[] = [];
  await waitUntil(
    "all events to be processed",
    async () => (await weft.events({ processed: "false" })).length === 0,
  );
  const events = await weft.events();
  const ids = events.map(({ event_id }) => event_id);
  if (new Set(ids).size !== ids.length) faults.push("an event is in the log twice");
  for (const id of responses.acknowledged) if (!ids.includes(id)) faults.push(`event ${id} is lost`);
  const numbers = events.map(({ id }) => id).toSorted((a, b) => a - b);
  if (numbers.some((id, at) => id !== at + 1)) faults.push(`numbers of records: ${numbers.join()}`);
  for (const { topic, error } of events) if (error !== "") faults.push(`${topic}: ${error}`);
  const emitted = events.filter(({ topic }) => topic === "custom.relay").map(({ event_id }) => event_id);
  const causes = runs.map(({ event_id }) => event_id);
  if (causes.toSorted().join() !== emitted.toSorted().join())
    faults.push(`${emitted.length} events with runs of ${causes.join()}`);
  for (const topic of new Set(events.map((event) => event.topic))) {
    const { pagination } = await weft.get<Page<unknown>>(`/event-logs?limit=1&topic=${topic}`);
    const count = events.filter((event) => event.topic === topic).length;
    if (pagination.total !== count) faults.push(`${count} of ${topic}, counted as ${pagination.total}`);
  }
  const wanted = ["run.completed", "run.started", ...STEPS.map(() => "step.completed")].join();
  for (const { run_id, status, error_message } of runs) {
    if (status !== "completed") faults.push(`${run_id} ${status}: ${error_message}`);
    const topics = events.filter((event) => event.run_id === run_id).map(({ topic }) => topic);
    if (topics.toSorted().join() !== wanted) faults.push(`${run_id} told of ${topics.toSorted().join()}`);
    const finished = (await weft.history(run_id)).flatMap((entry) =>
      entry.type === "step.finished" ? [String(entry.key)] : [],
    );
    if (finished.join() !== STEPS.join()) faults.push(`${run_id}: results of ${finished.join()}`);
  }
  const { pagination } = await weft.get<Page<unknown>>("/dead-letters?limit=1");
  if (pagination.total > 0) faults.push(`${pagination.total} dead letters`);
  return faults;
}
