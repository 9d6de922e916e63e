import { expect, test } from "vitest";
import { type Page, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import type { RunRecord } from "../../lib/workflows/runs/read.ts";
import { newStack, scheduledRules, silenceLog, startAwsServer } from "./test-aws.ts";

const MINUTE_MS = 60_000;
/** A rule fires once a minute; the rest is for the run. */
const FIRED_WITHIN_MS = 90_000;

const WORKFLOW = `
name: tick
triggers:
  - {name: each-minute, type: cron, schedule: "* * * * *"}
steps:
  - {name: tell, type: bash, command: "echo ticked"}
`;

interface Fire {
  readonly slot: string;
  readonly schedule: string;
}

const untilTime = (what: string, time: number): Promise<true> =>
  waitUntil(what, () => Date.now() >= time, time - Date.now() + MINUTE_MS);

async function fires(weft: TestServer): Promise<readonly Fire[]> {
  const events = await weft.events({ topic: "schedule.triggered" });
  return events.map(({ data }) => JSON.parse(data) as Fire);
}

/** Waits for another fire after the first `before` ones, and for its run. */
async function firesAgain(weft: TestServer, before: number): Promise<void> {
  const all = await waitUntil(
    "a fire",
    async () => {
      const now = await fires(weft);
      return now.length > before && now;
    },
    FIRED_WITHIN_MS,
  );
  expect(all[0]).toMatchObject({ schedule: "* * * * *" });
  expect(new Set(all.map(({ slot }) => slot)).size).toBe(all.length);
  const runs = await waitUntil("the run of each fire", async () => {
    const { data } = await weft.get<Page<RunRecord>>("/runs?workflow=tick&status=completed");
    return data.length >= all.length && data;
  });
  expect(runs[0]).toMatchObject({ trigger_type: "cron", trigger_name: "each-minute" });
}

test.concurrent("the rule of each minute fires due schedules; without the rule none fires", async () => {
  const stack = newStack();
  await using weft = await startAwsServer(stack);
  const wake = await silenceLog(`${stack}-fire`);
  await weft.storeWorkflow(WORKFLOW);
  // Disables the rules of single expressions, so that only the rule of each minute fires.
  for (const rule of await scheduledRules(`${stack}-schedule-`)) await silenceLog(rule);
  const silentFrom = Date.now();
  const nextSlot = (Math.floor(silentFrom / MINUTE_MS) + 1) * MINUTE_MS;
  await untilTime("a slot to pass, and a minute", nextSlot + MINUTE_MS);
  const before = await fires(weft);
  expect(before.filter(({ slot }) => Date.parse(slot) > silentFrom)).toEqual([]);

  await wake();
  await firesAgain(weft, before.length);
});

test.concurrent("the rule of an expression fires only its own schedules", async () => {
  const stack = newStack();
  await using weft = await startAwsServer(stack);
  await silenceLog(`${stack}-fire`);
  await weft.storeWorkflow(WORKFLOW);
  expect(await scheduledRules(`${stack}-schedule-`)).toHaveLength(1);
  await firesAgain(weft, 0);
});
