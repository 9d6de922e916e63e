import { afterAll, beforeAll, expect, test } from "vitest";
import { awsClients, servicesOf } from "../../lib/platform/aws/clients.ts";
import type { AwsPlatform } from "../../lib/platform/aws/platform.ts";
import { openAwsForTest, openCloudSubject } from "../../lib/platform/contract/aws-subject.ts";
import { ITEMS } from "../../lib/platform/contract/resources.ts";
import { type AwsProxy, startAwsProxy } from "./test-aws-proxy.ts";

/** The timeout of one attempt of the slowest call, a transfer, with a margin. */
const TIMEOUT_MAX_MS = 40_000;
const PATIENCE = { requestTimeoutMs: 1_000, attempts: 1 };
const QUEUE = "contract-standard";

let subject: Awaited<ReturnType<typeof openCloudSubject>>;
let proxy: AwsProxy;
let clients: ReturnType<typeof awsClients>;
let platform: AwsPlatform;
beforeAll(async () => {
  subject = await openCloudSubject();
  proxy = await startAwsProxy(1);
  clients = awsClients({ ...process.env, ...proxy.environment }, undefined, PATIENCE);
  platform = await openAwsForTest(subject.stack, { services: servicesOf(clients) });
  await platform.ports.queues.send(QUEUE, [{ body: "its address is known from now on" }]);
});
afterAll(async () => {
  clients?.close();
  await subject?.close();
  await proxy?.[Symbol.asyncDispose]();
});

test("every call times out when a service accepts it and never responds", async () => {
  const { tables, queues, bus, blobs, timers, outbox } = platform.ports;
  const key = { pk: "p", sk: "s" };
  const write = { op: "put", table: ITEMS, item: key } as const;
  const message = { body: "x" };
  const event = { source: "weft.events", detailType: "x", detail: {} };
  proxy.misbehave({ hangs: () => true });
  const calls: Readonly<Record<string, Promise<unknown>>> = {
    get: tables.get(ITEMS, key),
    batchGet: tables.batchGet(ITEMS, [key]),
    query: tables.query(ITEMS, { pk: "p" }),
    write: tables.write([write]),
    transaction: tables.write([write, { op: "put", table: ITEMS, item: { pk: "p", sk: "t" } }]),
    update: tables.update(ITEMS, key, { set: { n: 1 } }),
    commit: outbox.commit({ writes: [write], publish: [event] }),
    publish: bus.publish([event]),
    send: queues.send(QUEUE, [message]),
    receive: queues.receive(QUEUE, { max: 1, visibilitySeconds: 30, waitSeconds: 1 }),
    delete: queues.delete(QUEUE, ["receipt"]),
    changeVisibility: queues.changeVisibility(QUEUE, "receipt", 0),
    depth: queues.depth(QUEUE),
    address: queues.send("contract-commands", [message]),
    timer: timers.set("t", Date.now() + 60_000, QUEUE, message),
    put: blobs.put("a", "x"),
    read: blobs.get("a"),
    head: blobs.head("a"),
    list: blobs.list("a"),
    remove: blobs.delete(["a"]),
  };
  const begun = performance.now();
  const outcomes = await Promise.all(
    Object.entries(calls).map(async ([name, call]) => {
      const code = await call.then(
        () => "answered",
        (error: unknown) => (error as { code?: unknown }).code,
      );
      return [name, code, performance.now() - begun < TIMEOUT_MAX_MS];
    }),
  );
  expect(outcomes).toEqual(Object.keys(calls).map((name) => [name, "unavailable", true]));
}, 120_000);
