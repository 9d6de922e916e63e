import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { STREAM_LIMITS } from "../../lib/http/event-streams.ts";
import { TestEventStream } from "../../lib/testing/test-event-stream.ts";
import { startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import { sharedServer } from "./shared-server.ts";

const WRITERS = 4;
const ROUNDS = 3;
const EMITTED_PER_ROUND = 25;

const shared = sharedServer();

const open = (server: Pick<TestServer, "url" | "token">, path: string, lastId?: string) =>
  TestEventStream.open(`${server.url}/automation${path}`, {
    authorization: `Bearer ${server.token}`,
    ...(lastId === undefined ? {} : { "last-event-id": lastId }),
  });

describe("GET /automation/event-logs/stream", () => {
  test("sends each new event that matches the filters, as the list shows it", async () => {
    const topic = "custom.stream-filters";
    await shared.emit({ topic, workspace: "before", data: {} });
    await using events = await open(shared, `/event-logs/stream?topic=${topic}&workspace=one&source=api`);
    expect(events.response.status).toBe(200);
    expect(events.response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    await shared.emit({ topic, workspace: "other", data: {} });
    await shared.emit({ topic: `${topic}.other`, workspace: "one", data: {} });
    await shared.emit({ topic, workspace: "one", data: { text: 'a "quote"\n\ndata: x' } });
    await shared.emit({ topic, workspace: "one", source: "other", data: {} });
    await shared.emit({ topic, workspace: "one", data: { last: true } });
    const received = [await events.next(), await events.next()];
    const listed = await waitUntil("the events to be indexed", async () => {
      const found = await shared.events({ topic, workspace: "one", source: "api" });
      return found.length === 2 && found.toReversed();
    });
    expect(received.map((event) => event?.name)).toEqual(["event", "event"]);
    expect(received.map((event) => event?.data)).toEqual(listed);
    expect(received.map((event) => event?.id)).toEqual(listed.map(({ id }) => String(id)));
  });

  test("begins with the last events, or after an id", async () => {
    const topic = "custom.stream-start";
    for (const number of [1, 2, 3, 4]) await shared.emit({ topic, data: { number } });
    await waitUntil("the events to be indexed", async () => {
      await using events = await open(shared, `/event-logs/stream?topic=${topic}&last=4`);
      await using early = await open(shared, `/event-logs/stream?topic=${topic}&last=1`);
      const first = await early.next();
      return JSON.parse(first?.data.data).number === 4 && (await events.next()) !== undefined;
    });
    await using last = await open(shared, `/event-logs/stream?topic=${topic}&last=2`);
    const third = await last.next();
    expect(JSON.parse(third?.data.data)).toEqual({ number: 3 });
    await using after = await open(shared, `/event-logs/stream?topic=${topic}&after=${third?.id}`);
    expect(JSON.parse((await after.next())?.data.data)).toEqual({ number: 4 });
    await using resumed = await open(shared, `/event-logs/stream?topic=${topic}&after=0`, third?.id);
    expect(JSON.parse((await resumed.next())?.data.data)).toEqual({ number: 4 });
    // After a restore of an older backup, a client may have read more than the log contains.
    await using ahead = await open(shared, `/event-logs/stream?topic=${topic}`, "999999999999999");
    await shared.emit({ topic, data: { number: 5 } });
    expect(JSON.parse((await ahead.next())?.data.data)).toEqual({ number: 5 });
  });

  test.each([
    ["?after=one", undefined, "query.after: must be the id of an event of the stream"],
    ["?after=-1", undefined, "query.after: must be the id of an event of the stream"],
    ["", "12.5", "Last-Event-ID: must be the id of an event of the stream"],
    ["", "9".repeat(16), "Last-Event-ID: must be the id of an event of the stream"],
    ["?last=-1", undefined, "query.last: must be at least 0"],
    ["?processed=true", undefined, "query.processed: is not available for a stream"],
    [`?topic=${"x".repeat(1025)}`, undefined, "query.topic"],
  ])("%s with Last-Event-ID %s returns 400", async (query, lastId, message) => {
    await using events = await open(shared, `/event-logs/stream${query}`, lastId);
    expect(events.response.status).toBe(400);
    expect(JSON.parse(await events.rest()).message).toContain(message);
  });

  test("requires a token", async () => {
    for (const path of ["/event-logs/stream", "/runs/none/stream"]) {
      await using events = await TestEventStream.open(`${shared.url}/automation${path}`, {});
      expect(events.response.status).toBe(401);
    }
  });

  test("a client that reads slowly receives everything, and others are not delayed", async () => {
    const topic = "custom.stream-slow";
    const { hostname, port } = new URL(shared.url);
    const slow = connect({ host: hostname, port: Number(port) });
    slow.write(
      `GET /automation/event-logs/stream?topic=${topic} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${shared.token}\r\n\r\n`,
    );
    await new Promise((resolve) => slow.once("readable", resolve));
    await using other = await open(shared, `/event-logs/stream?topic=${topic}`);
    const text = "x".repeat(500_000);
    for (let number = 0; number < 40; number += 1) {
      await shared.emit({ topic, data: { number, text } });
      expect(JSON.parse((await other.next())?.data.data).number).toBe(number);
    }
    let received = "";
    slow.setEncoding("utf8").on("data", (part: string) => {
      received += part.replaceAll(text, "");
      received = received.replaceAll(/x{20,}/g, "");
    });
    await expect.poll(() => [...received.matchAll(/^event: event$/gm)].length, { timeout: 10_000 }).toBe(40);
    slow.destroy();
  });
});

describe("a stream across kills of the server", () => {
  let dataDir: string;
  let server: TestServer;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "weft-streams-"));
    server = await startTestServer({ dataDir });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  });

  test("a client that resumes receives every acknowledged event once, in order", async () => {
    const acknowledged: string[] = [];
    const received: { id: number; key: string }[] = [];
    let lastId: string | undefined = "0";
    const receive = async (events: TestEventStream): Promise<void> => {
      try {
        for (let event = await events.next(); event !== undefined; event = await events.next())
          received.push({ id: event.data.id, key: JSON.parse(event.data.data).key });
      } catch {
        // The server was killed.
      }
    };
    for (let round = 0; round < ROUNDS; round += 1) {
      const events = await open(server, "/event-logs/stream?topic=custom.kept", lastId);
      const receiving = receive(events);
      const until = (round + 1) * EMITTED_PER_ROUND;
      const { promise: enough, resolve } = Promise.withResolvers<void>();
      const writing = Array.from({ length: WRITERS }, async (_, writer) => {
        for (let number = 0; ; number += 1) {
          const key = `${round}.${writer}.${number}`;
          const emitted = await server.emit({ topic: "custom.kept", data: { key } }).catch(() => undefined);
          if (emitted === undefined) return;
          acknowledged.push(key);
          if (acknowledged.length >= until) resolve();
        }
      });
      await enough;
      await server.kill();
      await Promise.all(writing);
      await receiving;
      lastId = events.lastId;
      server = await startTestServer({ dataDir });
    }
    await using events = await open(server, "/event-logs/stream?topic=custom.kept", lastId);
    const receiving = receive(events);
    await server.emit({ topic: "custom.kept", data: { key: "last" } });
    await expect.poll(() => received.at(-1)?.key, { timeout: 15_000 }).toBe("last");
    const keys = received.map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
    expect(acknowledged.filter((key) => !keys.includes(key))).toEqual([]);
    const ids = received.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted((one, other) => one - other));
    // What was received is what the log contains.
    const { data } = await server.get<{ data: { data: string }[] }>(
      "/event-logs?topic=custom.kept&limit=10000",
    );
    expect(data.map(({ data: text }) => JSON.parse(text).key).reverse()).toEqual(keys);
    await events.close();
    await receiving;
  });

  test("a caller has a limited number of streams, and a stopping server ends them", async () => {
    const streams: TestEventStream[] = [];
    for (let at = 0; at < STREAM_LIMITS.perCaller; at += 1)
      streams.push(await open(server, "/event-logs/stream?topic=custom.none"));
    await using refused = await open(server, "/event-logs/stream");
    expect(refused.response.status).toBe(429);
    expect(refused.response.headers.get("retry-after")).toBe("5");
    await streams.pop()?.close();
    await waitUntil("the seat to be free", async () => {
      const next = await open(server, "/event-logs/stream?topic=custom.none");
      if (next.response.status === 200) streams.push(next);
      return next.response.status === 200;
    });
    expect(await server.stop()).toBe(0);
    await Promise.all(streams.map((stream) => stream.end()));
  });
});

describe("GET /automation/runs/{id}/stream", () => {
  test("sends the record, the events and the log of a run, and ends with it", async () => {
    await shared.storeWorkflow(
      "name: streamed\nsteps:\n  - {name: one, type: bash, command: echo first}\n  - {name: two, type: bash, command: echo second}",
    );
    const runId = await shared.startRun({ module: "streamed", target: "t" });
    await using events = await open(shared, `/runs/${runId}/stream`);
    const end = await events.until("end");
    expect(end.data).toEqual({ run_id: runId, status: "completed" });
    const named = (name: string) => events.events.filter((event) => event.name === name);
    expect(named("event").map(({ data }) => data.topic)).toEqual([
      "run.started",
      "step.completed",
      "step.completed",
      "run.completed",
    ]);
    expect(named("run").at(-1)?.data).toEqual(await shared.get(`/runs/${runId}`).then(dataOf));
    const log = named("log").map(({ data }) => data.log);
    expect(log.join("")).toBe((await shared.call("GET", `/runs/${runId}/log`)).text);
    expect(log.join("")).toContain("| second\n");

    // A client that resumes anywhere receives the rest.
    const middle = events.events.find(({ data }) => data.topic === "step.completed");
    await using resumed = await open(shared, `/runs/${runId}/stream`, middle?.id);
    await resumed.until("end");
    const rest = resumed.events.filter(({ name }) => name === "event").map(({ data }) => data.id);
    const all = named("event").map(({ data }) => data.id);
    expect(rest).toEqual(all.slice(all.indexOf(middle?.data.id) + 1));
    const offset = Number(middle?.id?.split(".")[1]);
    const logRest = resumed.events.filter(({ name }) => name === "log").map(({ data }) => data.log);
    expect(logRest.join("")).toBe(Buffer.from(log.join("")).subarray(offset).toString());
    await using over = await open(shared, `/runs/${runId}/stream?log=false`, end.id);
    // Events of other runs may have been added to the log meanwhile.
    const [number, bytes] = ((await over.until("end")).id ?? "").split(".").map(Number);
    expect(number).toBeGreaterThanOrEqual(Number(end.id?.split(".")[0]));
    expect(bytes).toBe(Number(end.id?.split(".")[1]));
    expect(over.events.map(({ name }) => name)).toEqual(["run", "end"]);
  });

  test("follows a run until it is cancelled", async () => {
    await shared.storeWorkflow(
      "name: streamed-long\nsteps: [{name: wait, type: bash, command: 'echo begun; sleep 60'}]",
    );
    const runId = await shared.startRun({ module: "streamed-long", target: "t" });
    await using events = await open(shared, `/runs/${runId}/stream`);
    let log = "";
    while (!log.includes("| begun")) log += (await events.until("log")).data.log;
    await shared.call("DELETE", `/runs/${runId}`);
    expect((await events.until("end")).data.status).toBe("cancelled");
    expect(events.events.at(-2)?.data.status ?? events.events.at(-2)?.data.topic).toMatch(/cancelled/);
  });

  test("an unknown run returns 404, an invalid id 400", async () => {
    await using unknown = await open(shared, "/runs/none/stream");
    expect(unknown.response.status).toBe(404);
    await using invalid = await open(shared, "/runs/none/stream", "5");
    expect(invalid.response.status).toBe(400);
    expect(JSON.parse(await invalid.rest()).message).toBe(
      "Last-Event-ID: must be the id of an event of the stream",
    );
  });
});

const dataOf = (body: unknown): unknown => (body as { data: unknown }).data;
