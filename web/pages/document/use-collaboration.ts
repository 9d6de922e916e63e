import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import * as Y from "yjs";
import { type ConnectionStatus, WeftProvider } from "../../../client/collaboration/weft-provider.ts";
import { csrfHeaders } from "../../api/csrf.ts";
import type { Document } from "../../api/documents.ts";
import { takeEarly } from "../../api/early-requests.ts";
import { deleteLocalCopies, keepLocalCopy, type LocalCopy, openLocalCopy } from "./local-copy.ts";

/** What is known about the connection of an open document. */
export interface CollaborationState {
  readonly status: ConnectionStatus;
  /** Whether the content has arrived. */
  readonly isSynced: boolean;
  /** Whether the content is shown from the copy on this device until it arrives. */
  readonly isLocal: boolean;
  readonly isReadOnly: boolean;
  /** Whether the user may no longer read the document. */
  readonly isForbidden: boolean;
  /** Why the server does not accept the changes. */
  readonly refusal: string | undefined;
}

export interface Collaboration {
  readonly document: Y.Doc;
  readonly provider: WeftProvider;
  readonly state: CollaborationState;
}

const NETWORK_EVENTS = ["offline", "online"] as const;

const INITIAL: CollaborationState = {
  status: "connecting",
  isSynced: false,
  isLocal: false,
  isReadOnly: false,
  isForbidden: false,
  refusal: undefined,
};

interface Options {
  readonly record: Document;
  /** The user whose copy is kept on this device. */
  readonly user: string;
  /** The content was replaced as a whole: nothing is synchronized any more. */
  readonly onReplaced: (content: Y.Doc, unsynced: number) => void;
}

/** Number of changes that are not on the server's disk. It changes with each key, and the rest of the page does not. */
export function useUnsynced(provider: WeftProvider | undefined): number {
  const subscribe = useCallback(
    (listener: () => void) => provider?.on("unsynced", listener) ?? (() => undefined),
    [provider],
  );
  return useSyncExternalStore(subscribe, () => provider?.unsyncedChanges ?? 0);
}

/**
 * Keeps a document in sync while the page is open, and a copy of it on this device: it is shown at once, also without a
 * connection, and has what was not sent.
 */
export function useCollaboration({ record, user, onReplaced }: Options): Collaboration | undefined {
  const { id } = record;
  const [opened, setOpened] = useState<Pick<Collaboration, "document" | "provider">>();
  const [state, setState] = useState(INITIAL);
  const copy = useRef<LocalCopy>(undefined);
  useEffect(() => copy.current?.setRecord(record), [record]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another callback or record is no reason to connect again
  useEffect(() => {
    const document = new Y.Doc();
    let provider: WeftProvider | undefined;
    let isClosed = false;
    const change = (changes: Partial<CollaborationState>): void =>
      setState((current) => ({ ...current, ...changes }));
    const use = (local: LocalCopy | undefined): void => {
      copy.current = local;
      local?.setRecord(record);
    };
    const closeCopy = (): void => {
      copy.current?.close();
      copy.current = undefined;
    };
    const connect = (local: LocalCopy | undefined): void => {
      if (isClosed) {
        local?.close();
        return;
      }
      const { generation, unsent = 0 } = local ?? {};
      const connected = new WeftProvider({
        origin: location.origin,
        id,
        document,
        headers: csrfHeaders,
        // The ticket of the first connection was requested with the page.
        fetch: (input, init) => takeEarly(init?.method ?? "GET", String(input)) ?? fetch(input, init),
        ...(generation === undefined ? {} : { generation }),
        unsynced: unsent,
      });
      provider = connected;
      use(local);
      change({ isLocal: local !== undefined });
      connected.on("status", (status) => change({ status }));
      connected.on("synced", () => {
        change({ isSynced: true });
        if (copy.current !== undefined || connected.generation === undefined) return;
        void keepLocalCopy(user, id, connected.generation, document).then((kept) => {
          if (isClosed || kept === undefined) kept?.close();
          else {
            use(kept);
            kept.setUnsent(connected.unsyncedChanges);
          }
        });
      });
      connected.on("unsynced", (unsynced) => copy.current?.setUnsent(unsynced));
      connected.on("refused", (refusal) => change({ refusal }));
      connected.on("permissions", ({ canRead, canEdit }) => {
        change({ isForbidden: !canRead, isReadOnly: !canEdit });
        // The session may have ended: the copy stays until the server says that the user may not read the document.
        if (!canRead) closeCopy();
      });
      connected.on("generation", () => {
        closeCopy();
        void deleteLocalCopies(user, id);
        onReplaced(document, connected.unsyncedChanges);
      });
      setOpened({ document, provider: connected });
    };
    void openLocalCopy(user, id, document).then(connect);
    const reconnect = (): void => provider?.reconnect();
    for (const event of NETWORK_EVENTS) window.addEventListener(event, reconnect);
    return () => {
      isClosed = true;
      for (const event of NETWORK_EVENTS) window.removeEventListener(event, reconnect);
      provider?.destroy();
      closeCopy();
      document.destroy();
    };
  }, [id, user]);
  return opened === undefined ? undefined : { ...opened, state };
}
