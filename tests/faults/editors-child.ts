import { setTimeout as sleep } from "node:timers/promises";
import { HocuspocusProvider, HocuspocusProviderWebsocket } from "@hocuspocus/provider";
import { WebSocket } from "ws";
import * as Y from "yjs";

/**
 * Editors in a process of their own, which a test kills together with the server. They write words and report to the
 * parent which words the provider shows as saved.
 */
export interface EditorsOrder {
  /** WebSocket URL of the collaboration server. */
  readonly url: string;
  readonly origin: string;
  readonly token: string;
  readonly rooms: readonly string[];
  readonly editorsPerRoom: number;
  /** Begins each word, so that words of different processes differ. */
  readonly prefix: string;
}

/** A word that was saved. */
export interface SavedWord {
  readonly room: string;
  readonly word: string;
}

const PAUSE_MS = 5;
/** Words that an editor has not seen as saved yet. */
const UNSAVED_MAX = 8;

async function write(order: EditorsOrder, room: string, name: string): Promise<never> {
  class SocketWithOrigin extends WebSocket {
    constructor(url: string) {
      super(url, { headers: { origin: order.origin } });
      // A socket that is closed while it connects has an error.
      this.on("error", () => {});
    }
  }
  const websocketProvider = new HocuspocusProviderWebsocket({
    url: `${order.url}?room=${room}`,
    preserveTrailingSlash: true,
    WebSocketPolyfill: SocketWithOrigin,
    delay: 100,
    minDelay: 50,
  });
  const document = new Y.Doc();
  let unsaved: string[] = [];
  const provider = new HocuspocusProvider({ websocketProvider, name: room, document, token: order.token });
  provider.on("unsyncedChanges", () => {
    if (provider.unsyncedChanges > 0 || !provider.isSynced) return;
    for (const word of unsaved) process.send?.({ room, word } satisfies SavedWord);
    unsaved = [];
  });
  provider.attach();
  for (let number = 0; ; number += 1) {
    while (!provider.isSynced || unsaved.length >= UNSAVED_MAX) await sleep(PAUSE_MS);
    const word = `${order.prefix}-${name}-${number};`;
    unsaved.push(word);
    document.getText("words").insert(document.getText("words").length, word);
    await sleep(PAUSE_MS * Math.random());
  }
}

process.once("message", (message) => {
  const order = message as EditorsOrder;
  for (const [at, room] of order.rooms.entries())
    for (let editor = 0; editor < order.editorsPerRoom; editor += 1)
      void write(order, room, `${at}-${editor}`);
});
