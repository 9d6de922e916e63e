import type { Ports } from "../ports.ts";
import { type ContractItem, ITEMS, onlyMessage } from "./resources.ts";

type ScenarioPorts = Pick<Ports, "tables" | "queues" | "bus" | "outbox" | "blobs" | "timers" | "scheduler">;

const table = ITEMS;
const key = (sk: string) => ({ pk: "recorded", sk });
const QUEUE = "contract-standard";
const FIFO = "contract-fifo";
const receive = { max: 10, visibilitySeconds: 30, waitSeconds: 1 };

async function drain(ports: ScenarioPorts, queue: string): Promise<string> {
  const message = onlyMessage(await ports.queues.receive(queue, receive));
  await ports.queues.delete(queue, [message.receipt]);
  return message.body;
}

/** Operations whose AWS requests are deterministic, by name; each leaves the queues empty. */
export const SCENARIOS: Readonly<Record<string, (ports: ScenarioPorts) => Promise<unknown>>> = {
  "an item of every type": async ({ tables }) => {
    const item: ContractItem = {
      ...key("types"),
      n: -1.5,
      text: "é",
      bytes: new Uint8Array([0, 255]),
      nested: { a: "", b: 0, c: null, d: true, e: ["x"] },
    };
    await tables.write([{ op: "put", table, item }]);
    return [await tables.get(table, key("types")), (await tables.get(table, key("gone"))) === undefined];
  },
  "a condition that does not hold": async ({ tables }) => [
    await tables.write([{ op: "put", table, item: { ...key("once"), n: 1 }, when: [["pk", "missing"]] }]),
    await tables.write([{ op: "put", table, item: { ...key("once"), n: 2 }, when: [["pk", "missing"]] }]),
    await tables.write([{ op: "delete", table, key: key("once"), when: [["n", ">", 1]] }]),
    await tables.write([{ op: "check", table, key: key("once"), when: [["n", "=", 1]] }]),
  ],
  "a transaction that is cancelled": async ({ tables }) =>
    tables.write([
      { op: "put", table, item: { ...key("once"), n: 3 }, when: [["pk", "missing"]] },
      { op: "put", table, item: key("other") },
      { op: "update", table, key: key("third"), change: { add: { n: 1 } } },
      { op: "check", table, key: key("gone"), when: [["pk", "exists"]] },
    ]),
  "a transaction that is too large for an item": async ({ tables }) => {
    const grown = { set: { text: "y".repeat(200_000) } };
    await tables.write([{ op: "put", table, item: { ...key("large"), status: "x".repeat(1000), at: "x" } }]);
    await tables.update(table, key("large"), { set: { nested: { a: "x".repeat(300_000) } } });
    const writes = [
      { op: "update", table, key: key("large"), change: grown },
      { op: "put", table, item: key("other") },
    ] as const;
    const refused = async (writing: Promise<unknown>): Promise<unknown> =>
      writing.catch((error) => error.code);
    return [await refused(tables.write(writes)), await refused(tables.update(table, key("large"), grown))];
  },
  "an update": async ({ tables }) => {
    const change = {
      set: { text: "set", nested: { a: "b" } },
      setIfMissing: { at: "first" },
      add: { n: 2 },
      remove: ["status"],
    };
    return [
      await tables.update(table, key("updated"), change, [["n", "missing"]]),
      (await tables.update(table, key("updated"), change, [["n", "missing"]])) === undefined,
    ];
  },
  "reading many and in order": async ({ tables }) => {
    const pk = "recorded-list";
    for (const sk of ["a", "b", "c", "d"]) {
      await tables.write([{ op: "put", table, item: { pk, sk, status: "recorded", at: sk } }]);
    }
    const first = await tables.query(table, { pk, sk: { from: "a", before: "d" }, limit: 2 });
    const cursor = first.cursor ?? "";
    return [
      await tables.batchGet(table, [key("gone"), { pk, sk: "c" }, { pk, sk: "a" }]),
      first,
      await tables.query(table, { pk, sk: { from: "a", before: "d" }, limit: 2, cursor }),
      await tables.query(table, { pk: "recorded", index: "byStatus", sk: { beginsWith: "a" } }),
      await tables.query(table, { index: "byStatus", pk: "recorded", reverse: true, limit: 1 }),
    ];
  },
  "messages of a standard queue": async (ports) => {
    await ports.queues.send(QUEUE, [{ body: "one" }]);
    const depth = await ports.queues.depth(QUEUE);
    const message = onlyMessage(await ports.queues.receive(QUEUE, receive));
    await ports.queues.changeVisibility(QUEUE, message.receipt, 0.5);
    await ports.queues.delete(QUEUE, [message.receipt]);
    return [depth, message.body, message.receiveCount];
  },
  "messages of a FIFO queue": async (ports) => {
    const one = { groupId: "recorded", deduplicationId: "recorded-1" };
    await ports.queues.send(FIFO, [{ body: "one", ...one }]);
    await ports.queues.send(FIFO, [{ body: "again", ...one }]);
    const message = onlyMessage(await ports.queues.receive(FIFO, receive));
    await ports.queues.delete(FIFO, [message.receipt]);
    return [message.body, message.groupId];
  },
  "writes with their events and messages": async (ports) => {
    const outcome = await ports.outbox.commit({
      writes: [{ op: "put", table, item: key("committed") }],
      publish: [{ source: "weft.commands", detailType: "step.requested", detail: { type: "bash" } }],
      send: [{ queue: QUEUE, messages: [{ body: "sent" }] }],
    });
    return [outcome, await drain(ports, QUEUE)];
  },
  "rules of schedules": async ({ scheduler }) => {
    await scheduler.ensure(["0 9 * * *", "0 0 13 * 5"]);
    await scheduler.ensure(["0 9 * * *"]);
    await scheduler.reconcile(["0 9 * * *", "30 9 * * *"]);
    await scheduler.reconcile([]);
  },
  blobs: async ({ blobs }) => {
    await blobs.put("recorded/a", "text");
    await blobs.put("recorded/b", new Uint8Array([1, 2]));
    const listed = await blobs.list("recorded/", { limit: 1 });
    const rest = await blobs.list("recorded/", { after: "recorded/a" });
    const head = (await blobs.head("recorded/b"))?.bytes;
    await blobs.delete(["recorded/a", "recorded/b", "recorded/gone"]);
    const gone = [await blobs.head("recorded/b"), await blobs.get("recorded/b")];
    return [listed, rest, head, gone.map((one) => one === undefined)];
  },
};
