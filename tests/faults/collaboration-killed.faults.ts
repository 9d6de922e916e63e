import { type ChildProcess, fork } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import * as Y from "yjs";
import { startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import { type CollaborationChild, readyUrl, spawnCollaboration } from "../e2e/collaboration-child.ts";
import type { EditorsOrder, SavedWord } from "./editors-child.ts";

const EDITORS = fileURLToPath(new URL("./editors-child.ts", import.meta.url));
/** Identifies `weft collaboration` to the server. */
const KEY = "a-provider-key-for-tests";
const ENV = { Y_PROVIDER_API_KEY: KEY };
/** Of each separate process: the lease of one that was killed ends when the next one starts at its address. */
const NODE_ADDRESS = "127.0.0.1:1";
/** What is killed in each round, together with all editors; in the rounds with a process, they are connected to it. */
const ROUNDS = [
  "the server",
  "the server",
  "the server",
  "the server",
  "the separate process",
  "the server behind the separate process",
  "both processes",
  "the separate process",
  "the server behind the separate process",
  "both processes",
] as const;
const ROOMS = 20;
/** Minimum number of words that are saved before a kill, in all rooms together. */
const SAVED_MIN = 400;

let dataDir: string;
let weft: TestServer | undefined;
let rooms: string[];
const saved: SavedWord[] = [];

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "weft-kill-collaboration-"));
  weft = await startTestServer({ dataDir, env: ENV });
  rooms = [];
  for (let n = 0; n < ROOMS; n += 1)
    rooms.push((await request<{ id: string }>(weft, "POST", "documents/", { title: `Room ${n}` })).id);
});
afterAll(async () => {
  await weft?.kill();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

async function request<Body>(
  server: TestServer,
  method: string,
  path: string,
  body?: unknown,
): Promise<Body> {
  const response = await fetch(`${server.url}/api/v1.0/${path}`, {
    method,
    headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (
    response.headers.get("content-type")?.includes("json") === true ? response.json() : response.text()
  ) as Body;
}

function startEditors(
  server: TestServer,
  url: string,
  prefix: string,
): { readonly words: SavedWord[]; kill(): Promise<void> } {
  const child: ChildProcess = fork(EDITORS);
  onTestFinished(() => void child.kill("SIGKILL"));
  const words: SavedWord[] = [];
  child.on("message", (word: SavedWord) => words.push(word));
  const order: EditorsOrder = {
    url: `${url.replace(/^http/, "ws")}/collaboration/ws/`,
    origin: server.url,
    token: server.token,
    rooms,
    editorsPerRoom: 2,
    prefix,
  };
  child.send(order);
  return {
    words,
    kill: async () => {
      const closed = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGKILL");
      await closed;
    },
  };
}

const wordsOf = async (server: TestServer, room: string): Promise<string> => {
  const doc = new Y.Doc();
  Y.applyUpdate(
    doc,
    Buffer.from(await request<string>(server, "GET", `documents/${room}/content/`), "base64"),
  );
  // The paragraph that every document begins with: there is exactly one root.
  expect(doc.getXmlFragment("document-store").length).toBe(1);
  return doc.getText("words").toString();
};

/** The separate process, if the round has one. */
async function startProcess(
  killed: string,
  server: TestServer,
): Promise<(CollaborationChild & { readonly url: string }) | undefined> {
  if (killed === "the server") return undefined;
  const process = spawnCollaboration({
    ...ENV,
    COLLABORATION_BACKEND_BASE_URL: server.url,
    COLLABORATION_NODE_ADDRESS: NODE_ADDRESS,
  });
  onTestFinished(() => void process.child.kill("SIGKILL"));
  return { ...process, url: await readyUrl(process) };
}

test.each(ROUNDS.map((killed, at) => [at + 1, killed] as const))(
  "round %d: a kill of %s and of all editors loses no word that was shown as saved",
  async (round, killed) => {
    const server = weft ?? (await startTestServer({ dataDir, env: ENV }));
    const process = await startProcess(killed, server);
    const editors = startEditors(server, process?.url ?? server.url, `r${round}`);
    const savedRooms = (): number => new Set(editors.words.map(({ room }) => room)).size;
    await waitUntil(
      "saved words in all rooms",
      async () => editors.words.length >= SAVED_MIN && savedRooms() === ROOMS,
      60_000,
    );
    const endProcess = async (): Promise<void> => {
      process?.child.kill("SIGKILL");
      await process?.ended;
    };
    await Promise.all([
      editors.kill(),
      killed === "the separate process" ? undefined : server.kill(),
      killed === "the server behind the separate process" ? undefined : endProcess(),
    ]);
    await endProcess();
    if (killed !== "the separate process") weft = await startTestServer({ dataDir, env: ENV });
    saved.push(...editors.words);
    for (const room of rooms) {
      const words = await wordsOf(weft ?? server, room);
      const missing = saved.filter((word) => word.room === room && !words.includes(word.word));
      expect(missing).toEqual([]);
    }
  },
  120_000,
);
