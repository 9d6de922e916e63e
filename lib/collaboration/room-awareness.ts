import type { Document } from "@hocuspocus/server";
import { applyAwarenessUpdate, encodeAwarenessUpdate } from "y-protocols/awareness";
import type { AwarenessHub } from "../documents/updates/awareness-hub.ts";
import type { Log } from "../platform/log.ts";

/** The origin of states that the hub has. */
const FROM_HUB = { source: "local", skipStoreHooks: true } as const;
const OWNER = "collaboration server";
/** Clients in one update. */
const CLIENTS_MAX = 8;

interface Changes {
  readonly added: readonly number[];
  readonly updated: readonly number[];
  readonly removed: readonly number[];
}

/** Exchanges the awareness of a room with clients of the document that are connected by other means, until it is unloaded. */
export function connectAwareness(document: Document, hub: AwarenessHub, log: Log): void {
  const { awareness, name } = document;
  const publish = ({ added, updated, removed }: Changes, origin: unknown): void => {
    if (origin === FROM_HUB) return;
    const clients = [...added, ...updated, ...removed];
    for (let at = 0; at < clients.length; at += CLIENTS_MAX) {
      const update = encodeAwarenessUpdate(awareness, clients.slice(at, at + CLIENTS_MAX));
      hub
        .publish({ document: name, update, owner: OWNER, origin: document })
        .catch((error: unknown) => log.warn("awareness could not be passed on", { document: name, error }));
    }
  };
  const receive = (update: Uint8Array, origins: ReadonlySet<unknown>): void => {
    if (origins.size === 1 && origins.has(document)) return;
    applyAwarenessUpdate(awareness, update, FROM_HUB);
  };
  awareness.on("update", publish);
  const unsubscribe = hub.subscribe(name, receive);
  document.once("destroy", () => {
    awareness.off("update", publish);
    unsubscribe();
  });
  const current = hub.current(name);
  if (current !== undefined) applyAwarenessUpdate(awareness, current, FROM_HUB);
}
