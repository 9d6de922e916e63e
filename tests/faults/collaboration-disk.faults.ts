import { HocuspocusProvider, HocuspocusProviderWebsocket } from "@hocuspocus/provider";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import * as Y from "yjs";
import { waitUntil } from "../../lib/testing/test-server.ts";
import { TOKEN, useSmallDisk } from "./small-disk.ts";

const WORD_BYTES = 20_000;

const disk = useSmallDisk();

const request = (method: string, path: string, body?: unknown): Promise<Response> =>
  fetch(`${disk.weft.url}/api/v1.0/${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

function open(room: string, document: Y.Doc): HocuspocusProvider {
  class SocketWithOrigin extends WebSocket {
    constructor(url: string) {
      super(url, { headers: { origin: disk.weft.url } });
      // A socket that is closed while it connects has an error.
      this.on("error", () => {});
    }
  }
  const websocketProvider = new HocuspocusProviderWebsocket({
    url: `${disk.weft.url.replace(/^http/, "ws")}/collaboration/ws/?room=${room}`,
    preserveTrailingSlash: true,
    WebSocketPolyfill: SocketWithOrigin,
    delay: 100,
    minDelay: 50,
    maxDelay: 500,
  });
  const provider = new HocuspocusProvider({ websocketProvider, name: room, document, token: TOKEN });
  provider.attach();
  onTestFinished(() => {
    provider.destroy();
    websocketProvider.destroy();
  });
  return provider;
}

const isSaved = (provider: HocuspocusProvider): boolean =>
  provider.isSynced && provider.unsyncedChanges === 0;

async function stored(room: string): Promise<string> {
  const doc = new Y.Doc();
  const response = await request("GET", `documents/${room}/content/`);
  Y.applyUpdate(doc, Buffer.from(await response.text(), "base64"));
  return doc.getText("words").toString();
}

test("on a full disk an edit is not shown as saved; it is saved when there is space again, and survives kill -9", async () => {
  await disk.start();
  const { id } = (await (await request("POST", "documents/", { title: "Room" })).json()) as { id: string };
  const document = new Y.Doc();
  const provider = open(id, document);
  const words = document.getText("words");
  await waitUntil("the connection", () => isSaved(provider));
  await disk.fill();

  // The server closes a connection whose update it cannot store.
  let isRefused = false;
  provider.configuration.websocketProvider.on("close", () => {
    isRefused = true;
  });
  let saved = "";
  for (let n = 0; n < 400; n += 1) {
    words.insert(words.length, `${n};`.padEnd(WORD_BYTES, "x"));
    await waitUntil("the word to be saved or refused", () => isSaved(provider) || isRefused);
    if (isRefused) break;
    saved = words.toString();
  }
  expect(saved.length).toBeGreaterThan(3 * WORD_BYTES);
  expect(words.toString()).not.toBe(saved);
  expect(isSaved(provider)).toBe(false);
  expect(await stored(id)).toBe(saved);

  await disk.free();
  await waitUntil("the refused word to be saved", () => isSaved(provider), 30_000);
  expect(await stored(id)).toBe(words.toString());

  await disk.weft.kill();
  await disk.start();
  expect(await stored(id)).toBe(words.toString());
});
