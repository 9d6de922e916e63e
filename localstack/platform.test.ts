import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Log } from "../lib/platform/log.ts";
import type { Queues, ReceivedMessage } from "../lib/platform/queues.ts";
import { type OpenedDeps, startPlatform } from "./platform.ts";
import { readServerFile, removeServerFile, writeServerFile } from "./server-file.ts";
import type { Template, TemplateFunction } from "./template.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "weft-platform-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** One queue whose messages come from `send`; tells in `steps` what happens to the dependencies. */
function opened(steps: string[]): OpenedDeps & { send(body: string): void } {
  const waiting: ReceivedMessage[] = [];
  let wake = Promise.withResolvers<void>();
  const queues: Queues = {
    send: async () => {},
    depth: async () => ({ visible: 0, inFlight: 0, delayed: 0 }),
    changeVisibility: async () => {},
    delete: async (_queue, receipts) => void steps.push(`deleted ${receipts}`),
    receive: async (_queue, { signal }) => {
      signal?.addEventListener("abort", () => wake.resolve());
      if (waiting.length === 0) await wake.promise;
      wake = Promise.withResolvers();
      return waiting.splice(0);
    },
  };
  return {
    deps: Object.assign({ steps }, { noteLastFailure: async () => {} }),
    ports: { queues },
    start: async () => void steps.push("started"),
    close: async () => void steps.push("closed"),
    send: (body) => {
      waiting.push({ id: body, receipt: body, body, receiveCount: 1, sentAt: 0 });
      wake.resolve();
    },
  };
}

const base: TemplateFunction = {
  logicalId: "Hello",
  entry: "hello.mjs",
  handlerExport: "handler",
  timeoutSeconds: 5,
  memoryMb: 128,
  bodyLimitBytes: undefined,
  worker: false,
  routes: [{ method: "GET", path: "/hello/{name}", stream: false }],
  sources: [],
};
const template: Template = {
  resources: { tables: [], queues: [], rules: [], schedules: [] },
  functions: [
    base,
    {
      ...base,
      logicalId: "Consume",
      entry: "consume.mjs",
      routes: [],
      sources: [
        {
          queue: "jobs",
          batchSize: 1,
          concurrency: 1,
          restMs: 0,
          maxReceiveCount: undefined,
          visibilitySeconds: 30,
          fifo: false,
        },
      ],
    },
  ],
};

test("runs the template's routes and queues with the same dependencies, and finishes before it closes them", async () => {
  await writeFile(
    join(root, "hello.mjs"),
    "export const handler = async (event, { weft }) => ({ statusCode: 200, headers: {}, body: event.pathParameters.name + weft.steps[0] });\n",
  );
  await writeFile(
    join(root, "consume.mjs"),
    "export const handler = async (event, { weft }) => { weft.steps.push('begun'); await new Promise((r) => setTimeout(r, 50)); weft.steps.push(event.Records[0].body); };\n",
  );
  const steps: string[] = [];
  const deps = opened(steps);
  const platform = await startPlatform({
    template,
    root,
    opened: deps,
    log: silent,
    host: "127.0.0.1",
    port: 0,
  });
  expect(await (await fetch(`${platform.url}/hello/you-`)).text()).toBe("you-started");
  deps.send("job");
  while (!steps.includes("begun")) await new Promise(setImmediate);
  await platform.close();
  expect(steps).toEqual(["started", "begun", "job", "deleted job", "closed"]);
  await expect(fetch(platform.url)).rejects.toThrow();
});

test("closes the dependencies if the port is in use", async () => {
  const holder = createServer().listen(0, "127.0.0.1");
  await new Promise<void>((resolve) => holder.once("listening", () => resolve()));
  const { port } = holder.address() as { port: number };
  const steps: string[] = [];
  const start = startPlatform({
    template,
    root,
    opened: opened(steps),
    log: silent,
    host: "127.0.0.1",
    port,
  });
  await expect(start).rejects.toMatchObject({ code: "EADDRINUSE", port });
  expect(steps).toEqual(["closed"]);
  await new Promise((resolve) => holder.close(resolve));
});

test("server.json is readable by its owner only, and can be removed", async () => {
  writeServerFile(root, { url: "http://127.0.0.1:1", pid: 7 });
  expect((await stat(join(root, "server.json"))).mode & 0o777).toBe(0o600);
  expect(JSON.parse(await readFile(join(root, "server.json"), "utf8"))).toEqual({
    url: "http://127.0.0.1:1",
    pid: 7,
  });
  expect(readServerFile(root)).toEqual({ url: "http://127.0.0.1:1", pid: 7 });
  removeServerFile(root);
  expect(readServerFile(root)).toBeUndefined();
  await writeFile(join(root, "server.json"), '{"url":');
  expect(readServerFile(root)).toBeUndefined();
});
