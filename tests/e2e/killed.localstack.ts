import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Page, waitUntil } from "../../lib/testing/test-server.ts";
import type { RunRecord } from "../../lib/workflows/runs/read.ts";
import { newStack, startAwsServer } from "./test-aws.ts";

const EVENTS = 8;
/** Messages of the dead server stay hidden for their visibility timeout: steps for 1 min, others for 6 min. */
const RECOVERED_WITHIN_MS = 8 * 60_000;

const WORKFLOW = `
name: slow
triggers:
  - {name: on-job, type: event, topic: custom.job, input: {target: event_data.id}}
steps:
  - {name: work, type: bash, command: "sleep 2; echo {{Target}} attempt {{attempt}}", exports: {done: output}}
  - {name: loud, type: function, function: 'to_upper_case("{{done}}")'}
`;

test("a server that is killed during runs and restarted neither loses nor repeats work", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "weft-killed-"));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }));
  const stack = newStack();
  await using first = await startAwsServer(stack, dataDir);
  await first.storeWorkflow(WORKFLOW);
  const ids = Array.from({ length: EVENTS }, (_, index) => `job-${index}`);
  const acknowledged = await Promise.all(
    ids.map(async (id) => (await first.emit({ topic: "custom.job", data: { id } })).event_id),
  );
  await waitUntil("a step under way", async () => {
    const { data } = await first.get<Page<RunRecord>>("/runs?status=running");
    const steps = await Promise.all(data.map(async ({ run_id }) => (await first.steps(run_id))["work"]));
    return steps.some((step) => step?.status === "running");
  });
  await first.kill();

  await using second = await startAwsServer(stack, dataDir);
  const runs = await waitUntil(
    "the end of every run",
    async () => {
      const { data } = await second.get<Page<RunRecord>>("/runs");
      return data.length === EVENTS && data.every(({ status }) => status === "completed") && data;
    },
    RECOVERED_WITHIN_MS,
  );
  const outputs = await Promise.all(
    runs.map(async ({ run_id }) => (await second.steps(run_id))["loud"]?.output ?? ""),
  );
  const jobs = outputs.map((output) => output.split(" ")[0] ?? "");
  expect(jobs.toSorted()).toEqual(ids.map((id) => id.toUpperCase()));
  expect(outputs.filter((output) => output.endsWith("ATTEMPT 2"))).not.toEqual([]);
  await waitUntil(
    "all events processed",
    async () => (await second.events({ processed: "false" })).length === 0,
    RECOVERED_WITHIN_MS,
  );
  const log = await second.events();
  const emitted = log.filter(({ topic }) => topic === "custom.job");
  expect(emitted.map(({ event_id }) => `evt_${event_id}`).toSorted()).toEqual(acknowledged.toSorted());
  expect(log.filter(({ topic }) => topic === "run.completed")).toHaveLength(EVENTS);
  expect(log.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(log.map((_, index) => index + 1));
}, 1_020_000);
