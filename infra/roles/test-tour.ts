import { randomUUID } from "node:crypto";
import {
  EVENT_INDEX,
  eventKey,
  eventLogTable,
  eventTailTable,
  type StoredEvent,
  type TailState,
  tailKey,
  tailShards,
} from "../../lib/events/log/table.ts";
import type { Key } from "../../lib/platform/tables.ts";
import { timersTable } from "../../lib/platform/timers-table.ts";
import { RankedIndex } from "../../lib/ranked-index/ranked-index.ts";
import { emptyHead, headKeyOf, type IndexHead, rankedIndexTable } from "../../lib/ranked-index/table.ts";
import { SIGNING_KEY, serviceTable } from "../../lib/workflows/installation/table.ts";
import { runKey, runsTable, unfinishedPartition } from "../../lib/workflows/runs/table.ts";
import { attemptReleasedKey, runFinishedKey } from "../../lib/workflows/steps/messages.ts";
import { revisionKey, revisionsTable } from "../../lib/workflows/store/table.ts";
import { triggerStateTable } from "../../lib/workflows/store/trigger-tables.ts";
import type { Installation } from "./test-installation.ts";
import { tourAttachments } from "./test-tour-attachments.ts";
import { type Client, createClient, waitUntil } from "./test-tour-client.ts";
import {
  createConsumerWork,
  moveWithInvitations,
  startMove,
  TOUR_EMAIL,
  tourDocuments,
  tourUpdates,
  waitForCompaction,
} from "./test-tour-documents.ts";
import { tourFiles } from "./test-tour-files.ts";
import { createDiffs, createFinishedRun, importFindings, readFindings } from "./test-tour-findings.ts";
import { tourLogins } from "./test-tour-logins.ts";
import { tourNotifications } from "./test-tour-notifications.ts";
import { createExpiredRecords } from "./test-tour-retention.ts";
import { createQueuedRun, createWaitingRun, rerunRuns, stallBeforeRetry } from "./test-tour-runs.ts";
import {
  CHAIN,
  HEARD,
  LOST,
  shortWorkflow,
  TRIGGERED,
  WAITING,
  WATCHING,
  WRITING,
  workflowWithAllSteps,
} from "./test-tour-workflows.ts";

/** Larger than a message, characters. */
const LARGE = "d".repeat(250_000);
/** Larger than the item of a value or of a dead letter. */
const LONG = "l".repeat(40_000);

/** More records than the recent part of the log's index contains. */
const INDEX_RECENT_MAX = 4_100;

interface Run {
  readonly run_id: string;
  readonly status: string;
}
interface Letter {
  readonly id: string;
  readonly queue: string;
}
interface LogRecord {
  readonly processed: boolean;
}
interface Tour {
  readonly at: Installation;
  readonly client: Client;
}

/**
 * Exercises everything that an installation can do, through every function of its template. At first the queues are
 * not polled, so that the sweep finds lost work; then everything runs to completion.
 */
export async function runTour(at: Installation): Promise<void> {
  const all = { at, client: createClient(at) };
  await readEmptyInstallation(all);
  const checkExpired = await createExpiredRecords(at);
  await createDiffs(at.outside);
  await storeWorkflows(all);
  await tourTriggers(all);
  const pending = await createLostWork(all);
  await importFindings(all.client);
  const left = await tourDocuments(all.client, at.serverToken);
  await tourLogins({ ...at, client: all.client });
  const live = await tourUpdates(all.client, at, left.edited);
  const attached = await tourAttachments(all.client, at.outside);
  const filed = await tourFiles(all.client, at);
  const notified = await tourNotifications(all.client, at.outside);
  await moveWithInvitations(all.client, at.outside, left.edited);
  await createConsumerWork(at.outside, left.edited, live);
  await createFinishedRun(at.outside);
  await createQueuedRun(all.client, at.outside);
  await createWaitingRun(pending, at.outside);
  await sweepAndFire(all);
  await checkExpired();
  await at.poll();
  const stalled = await stallRun(all);
  const [over] = await Promise.all([
    endWaitingRuns(all, stalled),
    parkEvent(all),
    finished(all, pending),
    waitForRuns(all),
  ]);
  await waitForCompaction(at.outside, live);
  await attached();
  await filed();
  await notified();
  at.writeAs(TOUR_EMAIL);
  const settle = await startMove(at.outside, left);
  // A request and a script find the move before it is completed.
  await all.client.status(`/api/v1.0/documents/${left.child}`);
  const { own, child } = left;
  await finished(all, await startRun(all.client, { module: "writing", params: { own, child } }));
  await settle();
  await stallBeforeRetry(all.client, at, batchOf("sweep", "{}", 1));
  await rerunRuns(all.client, at, () => batchOf("sweep", "{}", 1));
  await redriveAll(all, over);
  await mergeIndex(all);
  await readEverything(all);
}

/** Responses of an installation without data. */
async function readEmptyInstallation({ client }: Tour): Promise<void> {
  for (const path of ["/docs", "/docs/swagger-ui.css"]) await client.file("GET", path);
  const paths = ["/health", "/health/ready", "/openapi.json", "/automation/schemas/workflow.json"];
  for (const path of [...paths, "/automation/event-receiver/status", "/automation/platform"])
    await client.send("GET", path);
  // It is not uploaded.
  await client.status("/automation/web-page");
  for (const path of ["", "/list"]) await client.send("GET", `/automation/functions${path}`);
  await client.send("POST", "/automation/functions/eval", { script: "1 + 1" });
  const unknown = await client.status("/automation/nowhere");
  if (unknown !== 404) throw new Error(`an unknown path returned ${unknown}`);
  const asked = await Promise.all([
    client.status("/automation/llm/v1/chat/completions", { messages: [{ role: "user", content: "hello" }] }),
    client.status("/automation/llm/v1/embeddings", { input: "hello" }),
  ]);
  if (asked.some((status) => status !== 503))
    throw new Error(`requests without a language model returned ${asked}`);
}

async function storeWorkflows({ at, client }: Tour): Promise<void> {
  const versions = [shortWorkflow("30 8 * * *"), shortWorkflow("45 8 * * *"), shortWorkflow(undefined)];
  for (const yaml of [
    workflowWithAllSteps(at.url),
    WAITING,
    HEARD,
    CHAIN,
    LOST,
    WATCHING,
    WRITING,
    ...versions,
  ])
    await client.send("POST", "/automation/workflows", yaml);
  await client.send("DELETE", "/automation/workflows/brief");
  // With a parent that is stored, and one that is not.
  for (const parent of ["heard", "nobody"])
    await client.send("POST", "/automation/workflows/validate", `name: heir\nextends: ${parent}\n`);
  await client.send("GET", "/automation/workflows/waiting");
  await client.list("/automation/workflows");
  await client.list("/automation/workflows/waiting/revisions");
  await client.list("/automation/event-receiver/workflows");
}

/** All operations on schedules and webhooks. */
async function tourTriggers({ at, client }: Tour): Promise<void> {
  await client.send("POST", "/automation/workflows", TRIGGERED);
  const base = "/automation/schedules";
  const made = { name: "made", workflow_name: "triggered", schedule: "* * * * *", enabled: true };
  const { data } = await client.send<{ data: { id: string } }>("POST", base, made);
  await client.send("PUT", `${base}/${data.id}`, { params: { note: "n" } });
  for (const path of ["", "/next-runs"]) await client.send("GET", `${base}/${data.id}${path}`);
  await client.send("POST", `${base}/${data.id}/trigger`);
  const clock = `${base}/${encodeURIComponent("sch_triggered:clock")}`;
  for (const path of ["/disable", "/enable"]) await client.send("POST", `${clock}${path}`);
  await client.send("DELETE", clock);
  await client.list(base);
  const [webhook] = await client.list<{ url: string }>("/automation/webhooks");
  await client.send("POST", webhook?.url ?? "", { note: "n" });
  await client.send("GET", webhook?.url ?? "");
  await client.send("DELETE", `${base}/${data.id}`);
  const until = new Date(0).toISOString();
  await at.outside.tables.write([
    { op: "put", table: triggerStateTable, item: { pk: "once:tour", sk: "over", expires: "1", until } },
  ]);
  await forgetSigningKey(at);
}

/** The next reader rebuilds it. */
async function forgetSigningKey({ outside }: Installation): Promise<void> {
  await outside.tables.write([{ op: "delete", table: serviceTable, key: SIGNING_KEY }]);
}

/** A run and events that are unknown to all consumers before the sweep. */
async function createLostWork({ client }: Tour): Promise<string> {
  const asset = { topic: "asset.discovered", data: { value: "emitted.example.org" } };
  await client.send("POST", "/automation/events/emit", asset);
  const event = { topic: "custom.tour", data: { name: "Ada", note: LARGE } };
  await client.send("POST", "/automation/events/emit", event);
  return startRun(client, { module: "heard", params: { note: LONG } });
}

/** The scheduled functions, with data that only they repair. */
async function sweepAndFire({ at, client }: Tour): Promise<void> {
  const { outside } = at;
  const at0 = Date.now();
  const timer = { pk: "tour", sk: "timer", due: "due", dueAt: new Date(at0).toISOString(), at: at0 };
  const message = { queue: "conduct", body: JSON.stringify({ run_id: randomUUID() }), groupId: "tour" };
  const [id, gone] = [randomUUID(), randomUUID()];
  const record = { ...eventKey(id), event_id: id, processed: false, matches: [] } as Key as StoredEvent;
  await outside.tables.write([
    { op: "put", table: timersTable, item: { ...timer, ...message } },
    // A pending entry of a deleted record, and an expired one.
    {
      op: "put",
      table: eventTailTable,
      item: { ...tailKey(gone, "tail", tailShards(outside.tables)), resend_at: "2026", resends: 0 },
    },
    {
      op: "put",
      table: eventTailTable,
      item: {
        ...tailKey(id, "indexed", tailShards(outside.tables)),
        resend_at: "2026",
        resends: 20,
        number: 1,
      },
    },
    { op: "put", table: eventLogTable, item: record },
  ]);
  // One rule is missing, and one is obsolete.
  await outside.scheduler.reconcile(["1 1 1 1 *"]);
  const clock = { "detail-type": "Scheduled Event", source: "aws.events", time: new Date().toISOString() };
  const scheduled = { ...clock, version: "0", id: randomUUID(), resources: [], detail: {} };
  await at.call("FireFunction", scheduled);
  await at.call("SweepFunction", scheduled);
  await at.call("SweepFunction", batchOf("sweep", "not JSON", 3));
  // Its dead letter is redriven before it is in the list.
  const [letter] = await client.list<Letter>("/automation/dead-letters");
  await client.send("POST", `/automation/dead-letters/${letter?.id}/redrive`);
  // A full batch: pending records are indexed with it.
  const full = Array.from({ length: 10 }, () => batchOf("index-events", recorded(randomUUID()), 1).Records);
  await at.call("IndexEventsFunction", { Records: full.flat() });
}

const recorded = (event_id: string): string => JSON.stringify({ detail: { event_id } });

/** A batch of one message as Lambda passes it to a function, with this receive count. */
function batchOf(queue: string, body: string, deliveries: number) {
  const attributes = { ApproximateReceiveCount: String(deliveries), SentTimestamp: String(Date.now()) };
  const eventSourceARN = `arn:aws:sqs:us-east-1:123456789012:${queue}`;
  return { Records: [{ messageId: randomUUID(), body, attributes, eventSourceARN }] };
}

const startRun = async (client: Client, body: unknown): Promise<string> =>
  (await client.send<Run>("POST", "/automation/runs", body)).run_id;

const statusOf = async ({ client }: Tour, runId: string): Promise<string> =>
  (await client.send<{ data: Run }>("GET", `/automation/runs/${runId}`)).data.status;

const finished = (all: Tour, runId: string, status = "completed"): Promise<void> =>
  waitUntil(`run ${runId} to be ${status}`, async () => (await statusOf(all, runId)) === status);

/** The runs that events and schedules have started. */
async function waitForRuns({ client }: Tour): Promise<void> {
  for (const name of ["everything", "chain", "heard", "watching"]) {
    let seen: readonly Run[] = [];
    const what = () => `runs of ${name} to be completed, not ${JSON.stringify(seen)}`;
    await waitUntil(what, async () => {
      const runs = await client.list<Run>(`/automation/runs?workflow=${name}`);
      seen = runs;
      const failed = runs.find(({ status }) => status === "failed");
      if (failed !== undefined) throw new Error(`a run of ${name} failed: ${JSON.stringify(failed)}`);
      return runs.length > 0 && runs.every(({ status }) => status === "completed");
    });
  }
}

/** Starts a run that waits; returns its id. */
async function startWaiting({ client }: Tour): Promise<string> {
  const runId = await startRun(client, { module: "waiting", workspace: randomUUID() });
  await waitUntil(`a step of run ${runId}`, async () => {
    const steps = await client.list<Run>(`/automation/runs/${runId}/steps`);
    return steps.some(({ status }) => status === "running");
  });
  return runId;
}

/**
 * A waiting run, as stalled for the sweep as it looks a few minutes later: its command is sent again, signed for the
 * first time by the sweep, which reads the key once. It finds no key, whoever else creates it meanwhile.
 */
async function stallRun(all: Tour): Promise<string> {
  const runId = await startWaiting(all);
  let isSwept = false;
  const sweep = all.at.call("SweepFunction", batchOf("sweep", "{}", 1)).finally(() => {
    isSwept = true;
  });
  while (!isSwept) await forgetSigningKey(all.at);
  await sweep;
  return runId;
}

/** Waiting runs, each ended in another way; returns the first one. */
async function endWaitingRuns(all: Tour, first: string): Promise<string> {
  const { at, client } = all;
  const { outside } = at;
  const cancel = (runId: string) => client.send("DELETE", `/automation/runs/${runId}`);
  const [second, third, fourth] = await Promise.all([
    startWaiting(all),
    startWaiting(all),
    startWaiting(all),
  ]);

  await cancel(first);
  // As if the process had died before it notified the steps, which the sweep repairs.
  const since = { unfinished: unfinishedPartition(first), moved_at: new Date(0).toISOString() };
  await outside.tables.update(runsTable, runKey(first), { set: since });
  await at.call("SweepFunction", batchOf("sweep", "{}", 1));
  // By a process that died before it changed the run's state.
  await outside.claims.take(runFinishedKey(second));
  await cancel(second);
  await outside.claims.take(runFinishedKey(third));
  const poison = JSON.stringify({ run_id: third, input: { type: "start" }, filler: LONG });
  await outside.queues.send("conduct-dead-letters", [{ body: poison, groupId: third }]);
  await finished(all, third, "failed");

  const command = (dispatch: number) =>
    JSON.stringify({
      "detail-type": "step.requested",
      detail: {
        type: "bash",
        execution_target: "workspace",
        run_id: fourth,
        work_blob: `runs/${fourth}/work/gone`,
        request: { type: "step.requested", key: "none", step: "none", phase: "run", dispatch },
      },
      filler: LONG,
    });
  await at.call("BashFunction", batchOf("bash", command(998), 2));
  await outside.claims.take(attemptReleasedKey(fourth, 999, 9));
  await at.call("BashFunction", batchOf("bash", command(999), 10));
  await cancel(fourth);
  await client.send("POST", "/automation/runs/cancel", { root_cause: "none", workflow: "waiting" });
  return first;
}

/** An event whose workflow cannot be read is parked, and is processed once it can be. */
async function parkEvent({ at, client }: Tour): Promise<void> {
  const { tables, blobs } = at.outside;
  const revision = await tables.get(revisionsTable, revisionKey("lost", 1));
  if (revision === undefined) throw new Error("workflow not found");
  await tables.write([{ op: "delete", table: revisionsTable, key: revisionKey("lost", 1) }]);
  const event = { topic: "custom.lost", data: { note: LARGE } };
  const { event_id } = await client.send<{ event_id: string }>("POST", "/automation/events/emit", event);
  const tailKeyOf = (state: TailState) => tailKey(event_id.replace("evt_", ""), state, tailShards(tables));
  const parked = tailKeyOf("parked");
  let sweepAt = performance.now() + 5_000;
  await waitUntil("the event to be parked", async () => {
    // An event that has failed before it was indexed is parked by a sweep, two minutes after it was last sent.
    if (performance.now() >= sweepAt) {
      const due = { set: { resend_at: new Date(0).toISOString() } };
      for (const state of ["tail", "indexed"] as const)
        await tables.update(eventTailTable, tailKeyOf(state), due, [["pk", "exists"]]);
      await at.call("SweepFunction", batchOf("sweep", "{}", 1));
      sweepAt = performance.now() + 5_000;
    }
    return Boolean(await tables.get(eventTailTable, parked));
  });
  // Its content is gone by then; the sweep has sent a copy of the message, which finds it gone, too.
  await blobs.delete(await blobs.list("events/", {}));
  await tables.write([{ op: "put", table: revisionsTable, item: revision }]);
  const letter = (await client.list<Letter>("/automation/dead-letters")).find(
    ({ queue }) => queue === "dispatch",
  );
  await client.send("POST", `/automation/dead-letters/${letter?.id}/redrive`);
  await waitUntil("the event to be processed", async () => {
    const [record] = await client.list<LogRecord>("/automation/event-logs?topic=custom.lost");
    return record?.processed === true;
  });
  await client.send("GET", `/automation/events/${event_id}/matches`);
  await client.status("/automation/event-logs/stream?last=1");
}

/** A message of every queue becomes a dead letter and is redriven, as a no-op. */
async function redriveAll({ at, client }: Tour, over: string): Promise<void> {
  const names = at.outside.queueNames.filter((name) => !/-(?:dead-letters|undelivered)$/.test(name));
  const request = { key: "none", step: "none", dispatch: 0 };
  const detail = { type: "none", run_id: over, event_id: randomUUID(), request };
  const body = JSON.stringify({ "detail-type": "step.requested", detail, run_id: over });
  for (const name of names)
    await at.outside.queues.send(`${name}-dead-letters`, [{ body, groupId: randomUUID() }]);
  const letters = () => client.list<Letter>("/automation/dead-letters?limit=100");
  await waitUntil("a dead letter of every queue", async () => {
    const queues = new Set((await letters()).map(({ queue }) => queue));
    return names.every((name) => queues.has(name));
  });
  const all = await letters();
  // The next redrive merges the list.
  await fillIndex(at, "dead-letters");
  for (const { id } of all) await client.send("POST", `/automation/dead-letters/${id}/redrive`);
}

/** With this many records in the recent part, the next record triggers a merge of the index. */
async function mergeIndex({ at, client }: Tour): Promise<void> {
  const { merged } = await fillIndex(at, EVENT_INDEX);
  let emitAgainAt = 0;
  await waitUntil("the index to be merged", async () => {
    // A turn that leaves records to a later one merges nothing.
    if (performance.now() >= emitAgainAt) {
      await client.send("POST", "/automation/events/emit", { topic: "custom.last" });
      emitAgainAt = performance.now() + 5_000;
    }
    return (await headOf(at, EVENT_INDEX)).merged > merged;
  });

  // Only the sweep adds dead letters to their list.
  const letters = await fillIndex(at, "dead-letters");
  await at.call("SweepFunction", batchOf("sweep", "not JSON either", 3));
  await waitUntil("the sweep to merge the list", async () => {
    await at.call("SweepFunction", batchOf("sweep", "{}", 1));
    return (await headOf(at, "dead-letters")).merged > letters.merged;
  });
}

const headOf = async ({ outside }: Installation, name: string): Promise<IndexHead> =>
  (await outside.tables.get(rankedIndexTable, headKeyOf(name))) ?? emptyHead(name);

/** Fills the recent part of an index; returns its state before the next record. */
async function fillIndex(at: Installation, name: string): Promise<IndexHead> {
  const index = new RankedIndex(at.outside, name, { mergeRows: Number.POSITIVE_INFINITY });
  for (;;) {
    const head = await headOf(at, name);
    if (head.last - head.merged >= INDEX_RECENT_MAX) return head;
    await index.take({ entries: Array.from({ length: 250 }, () => ({ key: randomUUID(), fields: {} })) });
  }
}

async function readEverything({ client }: Tour): Promise<void> {
  const [run] = await client.list<Run>("/automation/runs");
  for (const path of ["", "/steps", "/history", "/chain", "/timeline"])
    await client.send("GET", `/automation/runs/${run?.run_id}${path}`);
  const [event] = await client.list<{ event_id: string }>("/automation/event-logs?topic=custom.last");
  await client.send("GET", `/automation/events/${event?.event_id}`);
  const { id } = await client.send<{ id: string }>("POST", "/api/v1.0/documents", { title: "Read" });
  await client.list(`/automation/documents/${id}/runs`);
  await readFindings(client, run?.run_id ?? "");
  for (const path of ["/assets", "/event-logs", "/event-logs?topic=custom.lost", "/event-receiver/status"])
    await client.send("GET", `/automation${path}`);
}
