import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import { evolve, type HistoryEntry, NEW_RUN } from "../../lib/workflows/engine/history.ts";
import type { RunRecord } from "../../lib/workflows/runs/read.ts";

const ROUNDS = 10;
const RUNS = 6;
const CHAIN = 25;

/** A chain of scripts in the server, expressions, loops, parallel steps and commands, each of which leaves a line. */
const workflow = (journal: string): string => `
name: mixed
steps:
${Array.from(
  { length: CHAIN },
  (_, at) =>
    `  - {name: f${at}, type: function, function: "${at === 0 ? "1 + 1" : `f${at - 1}_output + 1`}", pre_condition: "${at} >= 0"}`,
).join("\n")}
  - {name: text, type: function, function: "to_upper_case('sum ' + f${CHAIN - 1}_output)"}
  - name: each
    type: foreach
    input: ["1", "2", "3", "4"]
    variable: n
    parallel: 2
    step: {name: item, type: function, function: "trim(' [[n]] ')"}
  - name: both
    type: parallel-steps
    parallel_steps:
      - {name: left, type: bash, command: 'echo "$WEFT_RUN_ID left $WEFT_ATTEMPT" >> ${journal}'}
      - {name: right, type: function, function: "[1, 2].map((n) => n * 2).join()"}
  - {name: last, type: bash, command: 'echo "$WEFT_RUN_ID last $WEFT_ATTEMPT" >> ${journal}; echo {{text_output}}'}
`;

let dataDir: string;
let journal: string;
let weft: TestServer;
/** The outcomes of an undisturbed run. */
let calm: string[];
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "weft-mixed-"));
  journal = join(dataDir, "journal");
  weft = await startTestServer({ dataDir });
  await weft.storeWorkflow(workflow(journal));
  const runId = await weft.startRun({ module: "mixed", target: "calm" });
  expect((await weft.waitForRun(runId)).status).toBe("completed");
  calm = outcomesOf(await historyOf(runId));
});
afterAll(async () => {
  await weft.kill();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

type Entry = HistoryEntry & { readonly at?: string };

/** What a run decided, whatever was interrupted and however often: what finished, and how. */
const outcomesOf = (entries: readonly Entry[]): string[] =>
  entries
    .flatMap((entry) => {
      if (entry.type === "step.finished") return [`${entry.key} ${entry.status} ${entry.total ?? ""}`];
      return entry.type === "run.finished" || entry.type === "module.finished"
        ? [`${entry.type} ${entry.status}`]
        : [];
    })
    .toSorted();

const historyOf = async (runId: string): Promise<Entry[]> =>
  (await weft.history(runId)) as unknown as Entry[];

test.each(Array.from({ length: ROUNDS }, (_, index) => index + 1))(
  "round %d: runs of several step types end the same after a kill -9 in their midst",
  async (round) => {
    const ids = await Promise.all(
      Array.from({ length: RUNS }, (_, at) =>
        weft.startRun({ module: "mixed", target: `round-${round}-${at}` }),
      ),
    );
    const progress = async (): Promise<number> => Object.keys(await weft.steps(ids[RUNS - 1] ?? "")).length;
    // At another place of the chain in each round.
    await waitUntil("some steps", async () => (await progress()) > round * 2);
    await weft.kill();
    weft = await startTestServer({ dataDir });
    for (const runId of ids) {
      expect(await weft.waitForRun(runId)).toMatchObject({ status: "completed", error_message: "" });
      const history = await historyOf(runId);
      expect(outcomesOf(history)).toEqual(calm);
      expect(history.reduce(evolve, NEW_RUN)).toMatchObject({ status: "completed", frames: {} });
      const steps = await weft.steps(runId);
      expect([steps.last?.output, steps.right?.output]).toEqual([`SUM ${CHAIN + 1}`, "2,4"]);
      const log = await weft.events({ run_id: runId, topic: "step.completed" });
      const names = log.map(({ name }) => name);
      expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    }
    const lines = (await readFile(journal, "utf8")).split("\n").filter((line) => line !== "");
    expect(lines.filter((line, at) => lines.indexOf(line) !== at)).toEqual([]);
  },
  60_000,
);

test("SIGTERM in a chain of steps exits with 0, and the run continues after the restart", async () => {
  const runId = await weft.startRun({ module: "mixed", target: "stopped" });
  await waitUntil("some steps", async () => Object.keys(await weft.steps(runId)).length > 3);
  expect(await weft.stop()).toBe(0);
  weft = await startTestServer({ dataDir });
  expect((await weft.waitForRun(runId)).status).toBe("completed");
  expect(outcomesOf(await historyOf(runId))).toEqual(calm);
});

test("a long chain of steps does not keep another run from starting and ending", async () => {
  const steps = Array.from(
    { length: 900 },
    (_, at) => `  - {name: s${at}, type: function, function: "1 + 1"}`,
  );
  await weft.storeWorkflow(`name: chain\nsteps:\n${steps.join("\n")}\n`);
  await weft.storeWorkflow('name: short\nsteps: [{name: s, type: function, function: "2"}]\n');
  const long = await weft.startRun({ module: "chain", target: "t" });
  const recordOf = async () => (await weft.get<{ data: RunRecord }>(`/runs/${long}`)).data;
  await waitUntil("some steps", async () => (await recordOf()).completed_steps > 20);
  expect((await weft.run({ module: "short", target: "t" })).status).toBe("completed");
  expect((await recordOf()).status).toBe("running");
  expect((await weft.call("DELETE", `/runs/${long}`)).status).toBe(200);
  expect((await weft.waitForRun(long)).status).toBe("cancelled");
});
