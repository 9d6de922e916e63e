import { fork } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import * as Y from "yjs";
import { readEvents } from "../client/collaboration/event-stream.ts";
import type { Received } from "../client/collaboration/received.ts";
import { openDataFolder } from "../lib/app/cli.ts";
import { documentKey, documentsTable } from "../lib/documents/tables/documents.ts";
import { positionKey, updatesPartition, updatesTable } from "../lib/documents/tables/updates.ts";
import { readAll } from "../lib/events/read-all.ts";
import { type Figure, runBenchmark } from "./harness/benchmark.ts";
import { addCleanup, createTemporaryFolder } from "./harness/cleanup.ts";
import { fsyncTimes } from "./harness/disk.ts";
import { connectEditors, type EditorsPlan, type EditorsReport } from "./harness/editors.ts";
import { median, percentile } from "./harness/numbers.ts";
import { cpuMs, memoryOf } from "./harness/processes.ts";
import { type Server, startServer } from "./harness/server.ts";

const BASELINE = fileURLToPath(new URL("./harness/collaboration-baseline.ts", import.meta.url));
const NO_LIMIT = "1000000/minute";
/** For how long all editors are connected, at every server, before they write, milliseconds. */
const SETTLED_MS = 1_000;
const FSYNCS = 1_000;
/** Updates by HTTP, and the pause between them, milliseconds. */
const HTTP_UPDATES = 200;
const HTTP_APART_MS = 20;
/** Time after which a server that has nothing to do has freed memory. */
const IDLE_MS = 30_000;
const BLOCKS = 5_000;
const BLOCK_TEXT = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor. ".repeat(
  3,
);
const TYPED = 300_000;
const TYPED_PER_REQUEST = 100;

/** A server that the editors connect to. */
interface Target {
  readonly pid: number;
  readonly plan: Pick<EditorsPlan, "url" | "framing" | "headers" | "token">;
  /** Creates rooms, and returns their names. */
  rooms(count: number): Promise<string[]>;
}

await runBenchmark({
  name: "collaboration",
  what: "Live documents: two editors in each of 50 documents, 10 updates a second each",
  peer: "Hocuspocus with its defaults stores nothing before it acknowledges",
  measure: async ({ brief }) => {
    // More than the first second, which is also shown apart.
    const seconds = brief ? 2 : 10;
    const server = await startUnthrottled();
    const weft = targetOf(server);
    const [relay, durableRelay, hocuspocus] = [
      await startBaseline("relay"),
      await startBaseline("durable-relay"),
      await startBaseline("hocuspocus"),
    ];
    const fsyncs = fsyncTimes(FSYNCS);
    const fsync = median(fsyncs);
    const typing = { writersPerRoom: 2, readersPerRoom: 0, rate: 10, seconds };
    const pairs = brief ? 5 : 50;
    const [atRelay, atDurableRelay, atHocuspocus, atWeft] = [
      await measure(relay, pairs, typing),
      await measure(durableRelay, pairs, typing),
      await measure(hocuspocus, pairs, typing),
      await measure(weft, pairs, typing),
    ];
    const full = { writersPerRoom: 1, readersPerRoom: 0, rate: 0, seconds };
    const [most, mostHocuspocus] = [await measure(weft, 16, full), await measure(hocuspocus, 16, full)];
    const crowd = await measureCrowd(weft, brief ? 20 : 500, seconds);
    const figures: [Figure, ...Figure[]] = [
      { what: "latency p50", value: atWeft.p50, unit: "ms", target: atRelay.p50 + fsync + 1 },
      { what: "latency p99", value: atWeft.p99, unit: "ms", target: 2 * atRelay.p99 },
      { what: "latency p99, first second", value: atWeft.firstP99, unit: "ms" },
      { what: "latency p99, after it", value: atWeft.laterP99, unit: "ms" },
      {
        what: "durable updates a second, 16 rooms",
        value: most.perSecond,
        unit: "/s",
        target: 4_000,
        atLeast: true,
      },
      { what: "CPU of an update", value: most.cpuUs, unit: "us", target: 1.5 * mostHocuspocus.cpuUs },
      {
        what: "500 readers and a writer of 5 updates a second: latency p99",
        value: crowd.p99,
        unit: "ms",
        target: 100,
      },
      { what: "memory of the 500 readers", value: crowd.mb, unit: "MB", target: 150 },
      {
        what: "opening 5,000 blocks in a cold room",
        value: await measureOpening(server, brief),
        unit: "ms",
        target: 150,
      },
      ...(await measureHttp(server, brief)),
      ...(await measureRooms(brief)),
      ...(await measureTyping(brief)),
    ];
    return {
      figures,
      baseline: {
        relay_p50_ms: atRelay.p50,
        relay_p99_ms: atRelay.p99,
        ...partsOf("relay", atRelay),
        fsync_ms: fsync,
        fsync_p99_ms: percentile(fsyncs, 0.99),
        durable_relay_p50_ms: atDurableRelay.p50,
        durable_relay_p99_ms: atDurableRelay.p99,
        ...partsOf("durable_relay", atDurableRelay),
        hocuspocus_p50_ms: atHocuspocus.p50,
        hocuspocus_p99_ms: atHocuspocus.p99,
        ...partsOf("hocuspocus", atHocuspocus),
        hocuspocus_updates_per_second: mostHocuspocus.perSecond,
        hocuspocus_cpu_us: mostHocuspocus.cpuUs,
      },
      details: {
        editors: pairs * 2,
        sent: atWeft.sent,
        cpu_us: { relay: atRelay.cpuUs, hocuspocus: atHocuspocus.cpuUs, weft: atWeft.cpuUs },
        editors_gc_ms: { relay: atRelay.editorsGcMs, weft: atWeft.editorsGcMs },
        most,
      },
      faults: [atWeft, most].flatMap(({ sent, acknowledged }) =>
        acknowledged < sent ? [`${sent - acknowledged} of ${sent} updates were not acknowledged`] : [],
      ),
    };
  },
});

/** The p99 of a baseline in the first second and after it. */
function partsOf(server: string, { firstP99, laterP99 }: EditorsReport): Record<string, number> {
  return { [`${server}_p99_first_second_ms`]: firstP99, [`${server}_p99_after_it_ms`]: laterP99 };
}

function startUnthrottled(dataDir?: string): Promise<Server> {
  return startServer({
    ...(dataDir === undefined ? {} : { dataDir }),
    env: { API_DOCUMENT_THROTTLE_RATE: NO_LIMIT, API_DOCUMENT_UPDATES_THROTTLE_RATE: NO_LIMIT },
  });
}

function targetOf(server: Server): Target {
  const { url, token, pid } = server;
  return {
    pid,
    plan: {
      url: `${url.replace(/^http/, "ws")}/collaboration/ws/`,
      framing: "hocuspocus",
      headers: { origin: url },
      token,
    },
    rooms: (count) => createDocuments(server, count),
  };
}

async function createDocuments(server: Server, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const { id } = await request<{ id: string }>(server, "POST", "/api/v1.0/documents/", {
      title: `Room ${n}`,
    });
    ids.push(id);
  }
  return ids;
}

async function request<Body>(server: Server, method: string, path: string, body?: unknown): Promise<Body> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok)
    throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return (response.status === 204 ? undefined : await response.json()) as Body;
}

async function startBaseline(kind: "relay" | "durable-relay" | "hocuspocus"): Promise<Target> {
  const child = fork(BASELINE, [kind, createTemporaryFolder("baseline")]);
  addCleanup(() => child.kill("SIGKILL"));
  const port = await new Promise<number>((resolve) => child.once("message", (one) => resolve(Number(one))));
  return {
    pid: child.pid ?? 0,
    plan: {
      url: `ws://127.0.0.1:${port}/`,
      framing: kind === "hocuspocus" ? "hocuspocus" : "relay",
      headers: { origin: "http://127.0.0.1" },
      token: "none",
    },
    rooms: async (count) => Array.from({ length: count }, () => crypto.randomUUID()),
  };
}

/** Connects editors to new rooms and lets them write; with the CPU of the server for each update. */
async function measure(
  target: Target,
  rooms: number,
  how: Pick<EditorsPlan, "writersPerRoom" | "readersPerRoom" | "rate" | "seconds">,
): Promise<EditorsReport & { readonly cpuUs: number }> {
  const editors = await connectEditors({ ...target.plan, ...how, rooms: await target.rooms(rooms) });
  await sleep(SETTLED_MS);
  const before = cpuMs(target.pid);
  const report = await editors.measure();
  const cpuUs = ((cpuMs(target.pid) - before) * 1000) / report.sent;
  await editors.close();
  return { ...report, cpuUs };
}

async function measureCrowd(
  target: Target,
  readers: number,
  seconds: number,
): Promise<{ p99: number; mb: number }> {
  const before = memoryOf(target.pid).mb;
  const how = { writersPerRoom: 1, readersPerRoom: readers, rate: 5, seconds };
  const editors = await connectEditors({ ...target.plan, ...how, rooms: await target.rooms(1) });
  const { p99 } = await editors.measure();
  const mb = memoryOf(target.pid).mb - before;
  await editors.close();
  return { p99, mb };
}

/** From the request with an update to its event in the stream of another editor, one update after the other. */
async function measureHttp(server: Server, brief: boolean): Promise<Figure[]> {
  const [id = ""] = await createDocuments(server, 1);
  const path = `/api/v1.0/documents/${id}/updates/`;
  const [writer, reader] = [new Y.Doc(), new Y.Doc()];
  let update: Uint8Array = new Uint8Array();
  writer.on("update", (one: Uint8Array) => {
    update = one;
  });
  let received = Promise.withResolvers<void>();
  const read = async ({ body }: Response): Promise<void> => {
    for await (const event of readEvents(body ?? new ReadableStream())) {
      if (event?.name !== "sync" && event?.name !== "update") continue;
      for (const one of (JSON.parse(event.data) as Received).updates)
        Y.applyUpdate(reader, Buffer.from(one, "base64"));
      received.resolve();
    }
  };
  const stop = new AbortController();
  const stream = await fetch(`${server.url}${path}`, {
    headers: { authorization: `Bearer ${server.token}`, accept: "text/event-stream" },
    signal: stop.signal,
  });
  if (!stream.ok) throw new Error(`GET ${path} answered ${stream.status}`);
  const reading = read(stream).catch((error: unknown) => {
    if (!stop.signal.aborted) received.reject(error);
  });
  await received.promise;
  const times: number[] = [];
  for (let n = 1; n <= (brief ? 10 : HTTP_UPDATES); n += 1) {
    writer.getText("typed").insert(n - 1, "x");
    const started = performance.now();
    const sent = request(server, "POST", path, { updates: [Buffer.from(update).toString("base64")] });
    while (reader.getText("typed").length < n) {
      received = Promise.withResolvers<void>();
      await received.promise;
    }
    times.push(performance.now() - started);
    await sent;
    await sleep(HTTP_APART_MS);
  }
  stop.abort();
  await reading;
  return [
    { what: "over HTTP: latency p50", value: median(times), unit: "ms", target: 10 },
    { what: "over HTTP: latency p99", value: percentile(times, 0.99), unit: "ms" },
  ];
}

/** Time from the connection of an editor to the content of a document that no room has open, in milliseconds. */
async function measureOpening(server: Server, brief: boolean): Promise<number> {
  const content = Buffer.from(blocks(brief ? 50 : BLOCKS)).toString("base64");
  const target = targetOf(server);
  const times: number[] = [];
  for (let round = 0; round < (brief ? 1 : 5); round += 1) {
    const [id = ""] = await target.rooms(1);
    await request(server, "PATCH", `/api/v1.0/documents/${id}/content/`, { content });
    const { openMs } = await openOnce({ ...target.plan, rooms: [id] });
    times.push(openMs);
  }
  return median(times);
}

/** A document as BlockNote stores it. */
function blocks(count: number): Uint8Array {
  const doc = new Y.Doc();
  doc.transact(() => {
    const group = new Y.XmlElement("blockGroup");
    doc.getXmlFragment("document-store").insert(0, [group]);
    for (let n = 0; n < count; n += 1) {
      const container = new Y.XmlElement("blockContainer");
      container.setAttribute("id", crypto.randomUUID());
      const paragraph = new Y.XmlElement("paragraph");
      paragraph.insert(0, [new Y.XmlText(BLOCK_TEXT)]);
      container.insert(0, [paragraph]);
      group.push([container]);
    }
  });
  return Y.encodeStateAsUpdate(doc);
}

async function openOnce(
  plan: Pick<EditorsPlan, "url" | "framing" | "headers" | "token" | "rooms">,
): Promise<{ openMs: number }> {
  const editors = await connectEditors({
    ...plan,
    writersPerRoom: 0,
    readersPerRoom: 1,
    rate: 0,
    seconds: 0,
  });
  await editors.close();
  return { openMs: editors.readyMs };
}

/** Memory of rooms, in a server that has done nothing else since it loaded the collaboration server. */
async function measureRooms(brief: boolean): Promise<Figure[]> {
  const count = brief ? 20 : 1_000;
  const server = await startUnthrottled();
  const target = targetOf(server);
  const rooms = await target.rooms(count);
  await openOnce({ ...target.plan, rooms: rooms.slice(0, 1) });
  await sleep(brief ? 500 : IDLE_MS);
  const before = memoryOf(server.pid).mb;
  const how = { writersPerRoom: 1, readersPerRoom: 0, rate: 0, seconds: 0 };
  const editors = await connectEditors({ ...target.plan, ...how, rooms });
  const open = memoryOf(server.pid).mb;
  await editors.close();
  await sleep(brief ? 500 : IDLE_MS);
  const closed = memoryOf(server.pid).mb;
  return [
    { what: "memory of an open room, of 1,000", value: (open - before) / count, unit: "MB", target: 0.3 },
    { what: "memory after they close, as many times", value: closed / before, unit: "x", target: 1.1 },
  ];
}

/** Eight hours of typing: the size of everything that is kept of the document, and the time to open it after a kill. */
async function measureTyping(brief: boolean): Promise<Figure[]> {
  const dataDir = createTemporaryFolder("typing");
  const server = await startUnthrottled(dataDir);
  const [id = "", other = ""] = await targetOf(server).rooms(2);
  const typed = await type(server, id, brief ? 1_000 : TYPED);
  await server.kill();
  const bytes = await storedBytes(dataDir, id);
  const target = targetOf(await startUnthrottled(dataDir));
  // Loads the collaboration server.
  await openOnce({ ...target.plan, rooms: [other] });
  const { openMs } = await openOnce({ ...target.plan, rooms: [id] });
  return [
    {
      what: "log and snapshot of 300,000 typed characters, as many times the text",
      value: bytes / typed,
      unit: "x",
      target: 3,
    },
    { what: "opening it", value: openMs, unit: "ms", target: 300 },
  ];
}

/** Types into a document, and returns the length of its text. */
async function type(server: Server, id: string, count: number): Promise<number> {
  const doc = new Y.Doc();
  const text = doc.getText("typed");
  const updates: string[] = [];
  doc.on("update", (update: Uint8Array) => updates.push(Buffer.from(update).toString("base64")));
  for (let n = 0; n < count; n += 1) {
    // A mistake every twenty characters.
    if (n % 20 === 19) text.delete(text.length - 1, 1);
    else text.insert(text.length, String.fromCharCode(97 + (n % 26)));
    if (updates.length >= TYPED_PER_REQUEST || n === count - 1)
      await request(server, "POST", `/api/v1.0/documents/${id}/updates/`, { updates: updates.splice(0) });
  }
  return text.length;
}

/** Size of the latest version of a document and of its log, in a data folder that no server uses. */
async function storedBytes(dataDir: string, id: string): Promise<number> {
  const folder = await openDataFolder(dataDir);
  try {
    const { tables } = folder.deps;
    const document = await tables.get(documentsTable, documentKey(id));
    const { generation = 0, content: { bytes = 0, position = 0 } = {} } = document ?? {};
    const key = { pk: updatesPartition(id, generation), sk: { after: positionKey(position) } };
    const entries = await readAll({ tables }, updatesTable, key);
    return entries.reduce((sum, entry) => sum + entry.bytes, bytes);
  } finally {
    await folder.close();
  }
}
