import { mkdtemp, readdir, readFile, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Page, startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import type { RunRecord } from "../../lib/workflows/runs/read.ts";

/** Events emitted per round; each starts one run. */
export const EVENTS_PER_ROUND = 200;
const EMITTED_AT_ONCE = 16;
/** Minimum number of unfinished runs at the second kill; fewer make the round worthless. */
export const UNFINISHED_MIN = 20;
const STEPS = ["first", "second", "third"] as const;

/** Result of a round. */
export interface Round {
  readonly runs: readonly RunRecord[];
  /** Ids of the events that were acknowledged before the first kill. */
  readonly acknowledged: readonly string[];
  /** Runs that ended after the second kill. */
  readonly unfinishedAtKill: number;
  /** Lines `run step attempt`, written by the steps themselves. */
  readonly journal: readonly string[];
  /** Faults of the records: a step without exactly one result, an event that is missing or not processed. */
  readonly faults: readonly string[];
  /** Processes of steps that outlived a killed server. */
  readonly orphans: readonly string[];
}

export interface KillRounds extends AsyncDisposable {
  round(number: number): Promise<Round>;
}

/** Opens a data folder for consecutive servers. SIGKILL ends each server. */
export async function openKillRounds(): Promise<KillRounds> {
  const dataDir = await mkdtemp(join(tmpdir(), "weft-kill-"));
  const journalPath = join(dataDir, "journal");
  let weft: TestServer | undefined = await startTestServer({ dataDir });
  const start = async (): Promise<TestServer> => {
    weft = await startTestServer({ dataDir });
    return weft;
  };
  const kill = async (one: TestServer): Promise<string[]> => {
    await one.kill();
    weft = undefined;
    return orphansOf(dataDir);
  };
  await weft.storeWorkflow(workflow(journalPath));

  return {
    round: async (number) => {
      const first = weft ?? (await start());
      const acknowledged = await emitAll(first, number);
      const orphans = await kill(first);

      const second = await start();
      const target = String(number);
      await waitUntil("runs under way", async () => {
        const { pagination } = await second.get<Page<RunRecord>>(
          `/runs?limit=1&status=running&target=round-${target}-`,
        );
        return pagination.total >= UNFINISHED_MIN && (await readJournal(journalPath)).length > 0;
      });
      const killedAt = new Date().toISOString();
      orphans.push(...(await kill(second)));

      const third = await start();
      const runs = await waitUntil(
        "the end of all runs",
        async () => {
          const { data } = await third.get<Page<RunRecord>>(`/runs?limit=10000&target=round-${target}-`);
          return data.length >= EVENTS_PER_ROUND && data.every((run) => run.completed_at !== null) && data;
        },
        90_000,
      );
      await waitUntil(
        "all events to be processed",
        async () => (await third.events({ processed: "false" })).length === 0,
      );
      return {
        runs,
        acknowledged,
        unfinishedAtKill: runs.filter((run) => (run.completed_at ?? "") > killedAt).length,
        journal: await readJournal(journalPath),
        faults: [...(await recordFaults(third, runs)), ...(await eventFaults(third, runs, acknowledged))],
        orphans,
      };
    },
    [Symbol.asyncDispose]: async () => {
      await weft?.kill();
      await orphansOf(dataDir);
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

const workflow = (journal: string): string => `name: journal
triggers: [{type: event, topic: custom.kill, input: {target: event_data.target}}]
steps:
  - {name: first, type: bash, command: 'echo "$WEFT_RUN_ID $WEFT_STEP $WEFT_ATTEMPT" >> ${journal}; sleep 0.2'}
  - {name: second, type: function, function: 'exec_cmd("echo \\"$WEFT_RUN_ID $WEFT_STEP $WEFT_ATTEMPT\\" >> ${journal}")'}
  - {name: third, type: bash, command: 'echo "$WEFT_RUN_ID $WEFT_STEP $WEFT_ATTEMPT" >> ${journal}; sleep 0.1'}
`;

async function emitAll(weft: TestServer, round: number): Promise<string[]> {
  const ids: string[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < EVENTS_PER_ROUND) {
      next += 1;
      const answer = await weft.emit({ topic: "custom.kill", data: { target: `round-${round}-${next}` } });
      ids.push(answer.event_id.slice("evt_".length));
    }
  };
  await Promise.all(Array.from({ length: EMITTED_AT_ONCE }, work));
  return ids;
}

async function readJournal(path: string): Promise<string[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.split("\n").filter((line) => line !== "");
}

/** Processes whose working directory is still below a folder up to five seconds after their server ended. */
async function orphansOf(folder: string): Promise<string[]> {
  const end = performance.now() + 5_000;
  for (;;) {
    const found: string[] = [];
    for (const pid of await readdir("/proc")) {
      if (!/^\d+$/.test(pid)) continue;
      const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => "");
      if (cwd.startsWith(folder)) found.push(`${pid} in ${cwd}`);
    }
    if (found.length === 0 || performance.now() > end) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function recordFaults(weft: TestServer, runs: readonly RunRecord[]): Promise<string[]> {
  const faults: string[] = [];
  for (const { run_id } of runs) {
    const { data } = await weft.get<{ data: { step_name: string; status: string }[] }>(
      `/runs/${run_id}/steps`,
    );
    const rows = data.map((step) => `${step.step_name} ${step.status}`).join(", ");
    if (rows !== STEPS.map((name) => `${name} completed`).join(", ")) faults.push(`${run_id}: steps ${rows}`);
    const history = await weft.history(run_id);
    const finished = history.filter(({ type }) => type === "step.finished").map((entry) => entry["key"]);
    if (finished.join() !== STEPS.join()) faults.push(`${run_id}: history has ${finished.join()}`);
    const numbers = history.map(({ number }) => number);
    if (numbers.some((number, index) => number !== index + 1)) faults.push(`${run_id}: history has gaps`);
  }
  return faults;
}

/** Expects every acknowledged event in the log, and the events of every run exactly once. */
async function eventFaults(
  weft: TestServer,
  runs: readonly RunRecord[],
  acknowledged: readonly string[],
): Promise<string[]> {
  const events = await weft.events();
  const faults: string[] = [];
  const known = new Map(events.map((event) => [event.event_id, event]));
  for (const id of acknowledged)
    if (known.get(id)?.processed !== true) faults.push(`event ${id} is not in the log`);
  const eventsByRun = Map.groupBy(events, (event) => event.run_id);
  const wanted = ["run.completed", "run.started", ...STEPS.map(() => "step.completed")].join();
  for (const { run_id } of runs) {
    const topics = (eventsByRun.get(run_id) ?? [])
      .map(({ topic }) => topic)
      .sort()
      .join();
    if (topics !== wanted) faults.push(`${run_id}: events ${topics}`);
  }
  return faults;
}
