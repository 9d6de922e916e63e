import { setTimeout as sleep } from "node:timers/promises";
import { HocuspocusProvider, HocuspocusProviderWebsocket } from "@hocuspocus/provider";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import WebSocket from "ws";
import { applyUpdate, Doc } from "yjs";
import { type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import { type CollaborationChild, readyUrl, spawnCollaboration } from "./collaboration-child.ts";
import { newStack, startAwsServer } from "./test-aws.ts";

const KEY = "a-provider-key-for-tests";
const ROOMS = 4;
/** Words of each editor that are acknowledged before the kill, and after it. */
const WORDS = 10;
/** Words of an editor that are not acknowledged yet. */
const UNSAVED_MAX = 5;
const TYPING_MS = 20;
const ROUND_MS = 60_000;
const MOVED_MS = 15_000;

interface Node extends CollaborationChild {
  readonly url: string;
}

let weft: TestServer;
/** The nodes that the load balancer of this test knows. */
const nodes: Node[] = [];
const editors: Editor[] = [];

beforeAll(async () => {
  weft = await startAwsServer(newStack(), undefined, { Y_PROVIDER_API_KEY: KEY });
  for (let count = 0; count < 2; count += 1) nodes.push(await startNode());
});
afterEach(() => {
  for (const editor of editors.splice(0)) editor.close();
});
afterAll(async () => {
  for (const { child } of nodes) child.kill("SIGKILL");
  await weft?.[Symbol.asyncDispose]();
});

async function startNode(): Promise<Node> {
  const spawned = spawnCollaboration({
    COLLABORATION_BACKEND_BASE_URL: weft.url,
    Y_PROVIDER_API_KEY: KEY,
  });
  return { ...spawned, url: await readyUrl(spawned) };
}

const socketUrl = (node: Node | undefined, room: string): string =>
  `${node?.url.replace("http", "ws")}/collaboration/ws/?room=${room}`;

/** An editor with the stock provider. Each connection is to the next node, as behind a load balancer. */
class Editor {
  readonly room: string;
  readonly document = new Doc();
  /** Words that were shown as saved, with the time. */
  readonly saved: { readonly word: string; readonly at: number }[] = [];
  readonly #name: string;
  readonly #socket: HocuspocusProviderWebsocket;
  readonly #provider: HocuspocusProvider;
  #unsaved: string[] = [];
  #isTyping = true;

  constructor(room: string, name: string, first: number) {
    this.room = room;
    this.#name = name;
    let connections = first;
    class BalancedSocket extends WebSocket {
      constructor() {
        super(socketUrl(nodes[connections % nodes.length], room));
        // A socket that is closed while it connects has an error.
        this.on("error", () => {});
        connections += 1;
      }
    }
    this.#socket = new HocuspocusProviderWebsocket({
      url: socketUrl(nodes[0], room),
      preserveTrailingSlash: true,
      WebSocketPolyfill: BalancedSocket,
      delay: 100,
      minDelay: 100,
      maxDelay: 500,
    });
    this.#provider = new HocuspocusProvider({
      websocketProvider: this.#socket,
      name: room,
      document: this.document,
      token: weft.token,
    });
    this.#provider.on("unsyncedChanges", () => {
      if (!this.isSaved) return;
      const at = performance.now();
      this.saved.push(...this.#unsaved.map((word) => ({ word, at })));
      this.#unsaved = [];
    });
    this.#provider.attach();
    void this.#type();
    editors.push(this);
  }

  get isSaved(): boolean {
    return this.#provider.isSynced && this.#provider.unsyncedChanges === 0;
  }

  get text(): string {
    return this.document.getText("words").toString();
  }

  stop(): void {
    this.#isTyping = false;
  }

  close(): void {
    this.stop();
    this.#provider.destroy();
    this.#socket.destroy();
  }

  async #type(): Promise<void> {
    for (let number = 0; this.#isTyping; number += 1) {
      while (this.#isTyping && this.#unsaved.length >= UNSAVED_MAX) await sleep(TYPING_MS);
      const word = `${this.#name}-${number};`;
      this.#unsaved.push(word);
      const words = this.document.getText("words");
      words.insert(words.length, word);
      await sleep(TYPING_MS * (1 + Math.random()));
    }
  }
}

async function newDocument(): Promise<string> {
  const { json } = await weft.call("POST", "//api/v1.0/documents/", { body: { title: "Live" } });
  return (json as { id: string }).id;
}

async function storedText(room: string): Promise<string> {
  const { json } = await weft.call("GET", `//api/v1.0/documents/${room}/updates/`);
  const document = new Doc();
  for (const update of (json as { updates: string[] }).updates)
    applyUpdate(document, Buffer.from(update, "base64"));
  return document.getText("words").toString();
}

/** Waits until every editor has seen as many words saved since a time. */
const savedSince = (from: number): Promise<true> =>
  waitUntil(
    "words that are saved",
    () => editors.every(({ saved }) => saved.filter(({ at }) => at > from).length >= WORDS),
    ROUND_MS,
  );

test("two nodes share documents; after a kill -9 of one, nothing that was acknowledged is lost, and its rooms move", async () => {
  const rooms = await Promise.all(Array.from({ length: ROOMS }, newDocument));
  // Each node owns every second room, and the other editor of the room is connected to the other node.
  for (const [at, room] of rooms.entries()) new Editor(room, "ann", at);
  await savedSince(0);
  for (const [at, room] of rooms.entries()) new Editor(room, "bob", at + 1);
  await savedSince(0);

  const [killed, survivor] = nodes.splice(0) as [Node, Node];
  nodes.push(survivor);
  killed.child.kill("SIGKILL");
  const killedAt = performance.now();
  await killed.ended;
  const endedAt = performance.now();
  await savedSince(endedAt);
  for (const { room, saved } of editors) {
    const next = saved.find(({ at }) => at > endedAt)?.at ?? Number.POSITIVE_INFINITY;
    expect([room, next - killedAt < MOVED_MS]).toEqual([room, true]);
  }

  // A node that stops hands its rooms over at once.
  nodes.splice(0, 1, await startNode());
  survivor.child.kill("SIGTERM");
  expect(await survivor.ended).toBe(0);
  await savedSince(performance.now());

  for (const editor of editors) editor.stop();
  await waitUntil("all editors to be saved", () => editors.every(({ isSaved }) => isSaved), ROUND_MS);
  for (const room of rooms) {
    const [ann, bob] = editors.filter((editor) => editor.room === room) as [Editor, Editor];
    await expect.poll(() => ann.text === bob.text).toBe(true);
    const stored = await storedText(room);
    expect(stored).toBe(ann.text);
    const words = [ann, bob].flatMap(({ saved }) => saved.map(({ word }) => word));
    expect(words.filter((word) => !stored.includes(word))).toEqual([]);
  }
}, 300_000);
