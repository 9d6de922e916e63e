import { createHmac } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import type { RequestParts } from "#lib/testing/test-requests.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { readLog, readRuns, storeWorkflow } from "#lib/testing/test-workflows.ts";
import * as disable from "../schedules/disable.ts";
import * as list from "./list.ts";
import * as receive from "./receive.ts";
import * as receiveGet from "./receive-get.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const hook = (more = "", input = "{target: event_data.repo.name}"): string =>
  `name: w\ntriggers: [{name: pushed, type: webhook${more}, input: ${input}}]\nsteps: [{name: a, type: bash, command: echo}]\n`;
const listed = async (): Promise<{ id: string; secret: string; [name: string]: unknown }[]> =>
  (await call(test.deps, list.route)).body.data;
const made = async (more = "") => {
  await storeWorkflow(test.deps, hook(more));
  const [webhook] = await listed();
  return webhook as { id: string; secret: string };
};
const post = (id: string, sent: RequestParts) =>
  call(test.deps, receive.route, { token: null, params: { id }, ...sent });
const open = (id: string, query: Record<string, string> = {}) =>
  call(test.deps, receiveGet.route, { token: null, params: { id }, query });
const hmac = (secret: string, text: string) =>
  `sha256=${createHmac("sha256", secret).update(text).digest("hex")}`;
const seconds = () => Math.floor(test.clock.now() / 1_000);
const body = JSON.stringify({ repo: { name: "weft; id" } });

describe("a webhook", () => {
  it("starts its workflow with the request's content, and records it in the log", async () => {
    const { id, secret } = await made();
    expect(id).toMatch(/^wh_[\w-]{32}$/);
    const answer = await post(id, { body, query: { key: secret } });
    expect(answer).toMatchObject({
      status: 202,
      body: { message: "Webhook received", workflow: "w", triggered_workflows: ["w"] },
    });
    await test.drain();
    expect(await readRuns(test.deps)).toMatchObject([
      {
        run_id: answer.body.run_id,
        trigger_type: "webhook",
        trigger_name: "pushed",
        target: "weft; id",
        status: "completed",
      },
    ]);
    const { records } = await readLog(test.deps, { topic: "webhook.received" });
    expect(records).toMatchObject([
      { workflow_name: "w", data: body, data_type: "webhook", processed: true, error: "" },
    ]);
    expect(await listed()).toMatchObject([
      { url: `/automation/webhooks/${id}`, run_count: 1, is_enabled: true, auth: "key" },
    ]);
  });

  it("accepts its key in a header too, and GET requests with the query as payload", async () => {
    const { id, secret } = await made();
    for (const headers of [{ "X-Weft-Key": secret }, { Authorization: `Bearer ${secret}` }])
      expect((await post(id, { body: "plain", headers })).status).toBe(202);
    expect((await open(id, { key: secret, note: "n" })).status).toBe(202);
    const { records } = await readLog(test.deps, { topic: "webhook.received" });
    expect(records.map(({ data }) => JSON.parse(data))).toEqual([
      { note: "n" },
      { body: "plain" },
      { body: "plain" },
    ]);
  });

  it.each([undefined, "", "x", "a-token-for-tests-only", "x".repeat(10_000)])(
    "rejects the key %j and starts nothing",
    async (key) => {
      const { id } = await made();
      const answer = await post(id, { body, headers: key === undefined ? {} : { "x-weft-key": key } });
      expect(answer).toEqual({ status: 401, body: { error: true, message: "key: is missing or invalid" } });
      expect((await readLog(test.deps, { topic: "webhook.received" })).total).toBe(0);
    },
  );

  it("is not found by guessing, while it is disabled, or after its trigger is deleted", async () => {
    const { id, secret } = await made();
    for (const guess of ["wh_", id.slice(0, -1), "sch_w:pushed", "..%2f", "x".repeat(10_000)])
      expect((await post(guess, { body, query: { key: secret } })).status).toBe(404);
    await call(test.deps, disable.route, { params: { id: "sch_w:pushed" } });
    expect((await post(id, { body, query: { key: secret } })).status).toBe(404);
    await storeWorkflow(test.deps, "name: w\nsteps: [{name: a, type: bash, command: echo}]\n");
    expect((await post(id, { body, query: { key: secret } })).status).toBe(404);
    expect(await listed()).toEqual([]);
  });

  it("keeps its address and secret across revisions, and shows them only to its owner", async () => {
    const before = await made();
    await storeWorkflow(test.deps, `${hook()}description: newer\n`);
    const [after] = await listed();
    expect(after).toMatchObject({ id: before.id, secret: before.secret });
    expect((await call(test.deps, list.route, { token: null })).status).toBe(401);
    const { items } = await test.deps.tables.query(
      { name: "schedules", indexes: {} },
      { pk: "sch_w:pushed" },
    );
    expect(JSON.stringify(items)).not.toContain(before.secret);
  });

  it("starts no further run for the same Idempotency-Key", async () => {
    const { id, secret } = await made(", auth: none");
    const headers = { "Idempotency-Key": "delivery-1" };
    expect((await post(id, { body, headers })).body.message).toBe("Webhook received");
    expect((await post(id, { body, headers })).body).toEqual({
      message: "Webhook was received before",
      workflow: "w",
      triggered_workflows: [],
    });
    expect((await post(id, { body })).body.message).toBe("Webhook received");
    expect(secret).toHaveLength(43);
  });
});

describe("a signed webhook", () => {
  const signedCall = (secret: string, at = seconds(), sent = body): RequestParts => ({
    body: sent,
    headers: { "X-Weft-Timestamp": `${at}`, "X-Weft-Signature": hmac(secret, `${at}.${sent}`) },
  });

  it("accepts a recent request signed with its secret, once", async () => {
    const { id, secret } = await made(", auth: hmac");
    const request = signedCall(secret);
    const answers = await Promise.all([post(id, request), post(id, request), post(id, request)]);
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
    await test.drain();
    expect(await readRuns(test.deps)).toHaveLength(1);
    test.clock.advance(1_000);
    expect((await post(id, signedCall(secret))).body.message).toBe("Webhook received");
  });

  it("rejects requests that are old, changed, unsigned, signed with another secret, or sent by GET", async () => {
    const { id, secret } = await made(", auth: hmac, tolerance: 1m");
    const fresh = signedCall(secret);
    const refused = [
      signedCall(secret, seconds() - 61),
      signedCall(secret, seconds() + 61),
      { ...fresh, body: body.replace("id", "rm") },
      signedCall("another"),
      { body },
      { body, query: { key: secret } },
      { body, headers: { "X-Weft-Timestamp": "now", "X-Weft-Signature": hmac(secret, `now.${body}`) } },
      { body, headers: { "X-Weft-Timestamp": "", "X-Weft-Signature": hmac(secret, `.${body}`) } },
    ];
    for (const request of refused) expect((await post(id, request)).status).toBe(401);
    expect((await open(id, { key: secret })).status).toBe(401);
    expect((await readLog(test.deps, { topic: "webhook.received" })).total).toBe(0);
  });

  it("cannot be replayed during or after its tolerance", async () => {
    const { id, secret } = await made(", auth: hmac, tolerance: 1m");
    const request = signedCall(secret, seconds() + 60);
    expect((await post(id, request)).body.message).toBe("Webhook received");
    test.clock.advance(119_000);
    expect((await post(id, request)).body.message).toBe("Webhook was received before");
    test.clock.advance(2_000);
    expect((await post(id, request)).status).toBe(401);
  });

  it("accepts a signature of only the body if configured", async () => {
    const { id, secret } = await made(", auth: hmac-body");
    const headers = { "X-Hub-Signature-256": hmac(secret, body) };
    expect((await post(id, { body, headers })).body.message).toBe("Webhook received");
    expect((await post(id, { body, headers })).body.message).toBe("Webhook was received before");
    expect((await post(id, { body: `${body} `, headers })).status).toBe(401);
  });
});

it("a webhook that is called too often returns 429, and accepts requests again in the next minute", async () => {
  await test.close();
  test = await testDeps({ firesPerMinute: 3 });
  const { id } = await made(", auth: none");
  const statuses = [];
  for (let n = 0; n < 5; n += 1) statuses.push((await post(id, { body: `{"n": ${n}}` })).status);
  expect(statuses).toEqual([202, 202, 202, 429, 429]);
  test.clock.advance(60_000);
  expect((await post(id, { body })).status).toBe(202);
});
