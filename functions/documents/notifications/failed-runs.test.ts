import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sendDueMails } from "#lib/documents/notifications/compose-mails.ts";
import { createToken, revokeToken } from "#lib/documents/users/tokens.ts";
import type { Mail } from "#lib/mail/mail.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { onTopic, storeWorkflow } from "#lib/testing/test-workflows.ts";
import { route as emit } from "../../workflows/events/emit.ts";
import { route as createRun } from "../../workflows/runs/create.ts";
import { route as setSettings } from "../users/update-notification-settings.ts";
import { route as list } from "./list.ts";

const MINUTE_MS = 60_000;
const ON = { failed_run: { email: true, in_app: true } };

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps({ command: async () => ({ exitCode: 3 }) });
  for (const name of ["audit", "backup"]) await storeWorkflow(test.deps, onTopic(name, "custom.x"));
});
afterEach(() => test.close());

const set = (body: object, token = TEST_TOKEN) => call(test.deps, setSettings, { body, token });
const notifications = async (token = TEST_TOKEN) => (await call(test.deps, list, { token })).body;
const fail = async (module = "audit"): Promise<string> => {
  const { run_uuid } = (await call(test.deps, createRun, { body: { module } })).body;
  await test.drain(["send-mail"]);
  return run_uuid;
};
async function send(): Promise<Mail[]> {
  const sent: Mail[] = [];
  const mail = {
    send: async (one: Mail) => {
      sent.push(one);
      return "sent" as const;
    },
  };
  await sendDueMails({ ...test.deps, mail }, new AbortController().signal);
  return sent;
}

describe("a failed run", () => {
  it("notifies nobody who has not turned it on", async () => {
    await fail();
    expect(await notifications()).toMatchObject({ count: 0 });
    await set(ON);
    await set({ failed_run: { email: false, in_app: false } });
    await fail();
    expect(await notifications()).toMatchObject({ count: 0 });
    test.clock.advance(10 * MINUTE_MS);
    expect(await send()).toEqual([]);
  });

  it("notifies a user once, with its workflow and error", async () => {
    await set(ON);
    const id = await fail();
    const { results } = await notifications();
    expect(results).toEqual([
      expect.objectContaining({
        kind: "failed_run",
        actor: null,
        document: null,
        excerpt: null,
        run: { id, workflow: "audit", error: expect.stringContaining("3") },
      }),
    ]);
  });

  it("is sent by email at most hourly per workflow, with those until then", async () => {
    await set(ON);
    await fail();
    await fail();
    await fail("backup");
    expect(await send()).toEqual([]);
    test.clock.advance(2 * MINUTE_MS);
    expect((await send()).map(({ subject }) => subject).toSorted()).toEqual([
      "2 runs of audit failed",
      "A run of backup failed",
    ]);
    await fail();
    test.clock.advance(50 * MINUTE_MS);
    expect(await send()).toEqual([]);
    await fail();
    test.clock.advance(10 * MINUTE_MS);
    expect((await send()).map(({ subject, to }) => [subject, to])).toEqual([
      ["2 runs of audit failed", "owner@weft.local"],
    ]);
  });

  it("is shown and sent to users only while they may use the workflow service", async () => {
    const ada = await createToken(test.deps, { email: "ada@example.com", scopes: ["documents"] });
    expect(await set(ON, ada.token)).toEqual({
      status: 400,
      body: { failed_run: ["Only users who may use the workflow service are notified of failed runs."] },
    });
    const other = await createToken(test.deps, { email: "ada@example.com", scopes: ["automation"] });
    expect((await set(ON, ada.token)).body).toMatchObject(ON);
    await fail();
    expect(await notifications(ada.token)).toMatchObject({ count: 1 });
    await revokeToken(test.deps, other.record.id);
    expect(await notifications(ada.token)).toMatchObject({ count: 0, unread_count: 0 });
    await fail("backup");
    test.clock.advance(2 * MINUTE_MS);
    expect(await send()).toEqual([]);
    await createToken(test.deps, { email: "ada@example.com", scopes: ["automation"] });
    expect(await notifications(ada.token)).toMatchObject({ count: 1 });
  });

  it("that a client only claims has no effect if its data is not that of a run", async () => {
    await set(ON);
    const documents = { document_id: "x", title: null, parent_id: null, user_id: null };
    for (const [topic, data] of [
      ["run.failed", { error: 7 }],
      ["run.failed", { scan_id: "s", target: "t", duration_ms: 1, error: "x".repeat(100_000) }],
      ["documents.commented", {}],
      ["documents.commented", { ...documents, thread_id: "t", comment_id: "c" }],
      ["documents.shared", { ...documents, change: "given", shared_with: "x", team: null, role: "god" }],
      ["documents.commented", { ...documents, thread_id: "x".repeat(5_000), comment_id: "y".repeat(5_000) }],
      ["documents.access_requested", []],
    ])
      await call(test.deps, emit, { body: { topic, source: "documents", data } });
    await test.drain();
    expect(await notifications()).toMatchObject({ count: 0 });
    const data = { scan_id: "s", target: "t", duration_ms: 1, error: "x".repeat(100_000) };
    const long = "\u{1f600}".repeat(150);
    await call(test.deps, emit, { body: { topic: "run.failed", run_id: long, workflow_name: long, data } });
    await test.drain();
    const { results } = await notifications();
    expect(results).toHaveLength(1);
    expect(JSON.stringify(results).length).toBeLessThan(2_000);
    expect(test.logs.filter(({ level }) => level === "error")).toEqual([]);
  });
});
