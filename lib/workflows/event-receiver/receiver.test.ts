import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { emitEvent } from "../../events/emit.ts";
import { type TestDeps, testClock, testDeps } from "../../testing/test-deps.ts";
import { onTopic, storeWorkflow } from "../../testing/test-workflows.ts";
import { deleteWorkflow } from "../store/store.ts";
import {
  firstStart,
  getReceiverStatus,
  listReceiverWorkflows,
  receiverStatus,
  receiverWorkflows,
} from "./receiver.ts";

const MANY = `
name: many
triggers:
  - {name: nightly, type: cron, schedule: "0 3 * * *"}
  - {name: off, type: cron, schedule: "0 4 * * *", enabled: false}
  - {name: heard, type: event, topic: custom.x}
  - {name: seen, type: watch, path: /tmp/in/*.txt}
  - {name: hand, type: manual}
steps: [{name: a, type: bash, command: echo}]
`;

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

it("counts every listed trigger, enabled or not, and the workflows with triggers", async () => {
  await storeWorkflow(test.deps, MANY);
  await storeWorkflow(test.deps, onTopic("one", "custom.y"));
  await storeWorkflow(test.deps, "name: none\nsteps: [{name: a, type: bash, command: echo}]\n");
  await storeWorkflow(
    test.deps,
    "name: by-hand\ntriggers: [{type: manual}]\nsteps: [{name: a, type: bash, command: echo}]\n",
  );
  await storeWorkflow(test.deps, onTopic("deleted", "custom.y"));
  await deleteWorkflow(test.deps, "deleted");
  const status = receiverStatus.strict().parse(await getReceiverStatus(test.deps));
  expect(status).toMatchObject({
    enabled: true,
    running: true,
    triggers: { cron: 2, event: 2, watch: 1 },
    workflows_loaded: 2,
  });
  const listed = receiverWorkflows.parse(await listReceiverWorkflows(test.deps));
  expect(listed.count).toBe(2);
  expect(listed.data.map(({ name, kind }) => [name, kind])).toEqual([
    ["many", "module"],
    ["one", "module"],
  ]);
});

it("shows the fields of each trigger's type, and the next fire of disabled ones too", async () => {
  await storeWorkflow(test.deps, MANY);
  const { data } = await listReceiverWorkflows(test.deps);
  expect(data[0]?.triggers).toEqual([
    {
      name: "nightly",
      type: "cron",
      enabled: true,
      schedule: "0 3 * * *",
      next_run: "2026-03-03T03:00:00.000Z",
    },
    {
      name: "off",
      type: "cron",
      enabled: false,
      schedule: "0 4 * * *",
      next_run: "2026-03-03T04:00:00.000Z",
    },
    { name: "heard", type: "event", enabled: true, topic: "custom.x" },
    { name: "seen", type: "watch", enabled: true, path: "/tmp/in/*.txt" },
  ]);
});

it("returns the time of the last event, indexed or not, also after a restart; before any, that of the first start", async () => {
  const folder = await mkdtemp(join(tmpdir(), "weft-receiver-"));
  const clock = testClock();
  const lastEventAt = async (work: (deps: TestDeps["deps"]) => Promise<unknown>): Promise<string> => {
    const opened = await testDeps({ folder, clock });
    await firstStart(opened.deps);
    await work(opened.deps);
    const { last_event_at } = await getReceiverStatus(opened.deps);
    await opened.drain();
    expect((await getReceiverStatus(opened.deps)).last_event_at).toBe(last_event_at);
    await opened.close();
    clock.advance(60_000);
    return last_event_at;
  };
  try {
    const first = "2026-03-02T10:00:00.000Z";
    expect(await lastEventAt(async () => {})).toBe(first);
    expect(await lastEventAt(async () => {})).toBe(first);
    const emitted = "2026-03-02T10:02:00.000Z";
    expect(await lastEventAt((deps) => emitEvent({ ...deps }, { topic: "custom.x" }))).toBe(emitted);
    expect(await lastEventAt(async () => {})).toBe(emitted);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

it("returns 404 while it is disabled", async () => {
  const off = await testDeps({ receiverEnabled: false });
  await expect(getReceiverStatus(off.deps)).rejects.toMatchObject({ code: "not_found" });
  await expect(listReceiverWorkflows(off.deps)).rejects.toMatchObject({ code: "not_found" });
  await off.close();
});
