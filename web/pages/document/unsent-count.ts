import type { IndexeddbPersistence } from "y-indexeddb";

/** The store of y-indexeddb beside the content. */
const STORE = "custom";
/** Begins the key of each tab. Earlier versions had one key for all tabs. */
const PREFIX = "unsent";
/** Where a tab keeps its id, which a reload does not change. */
const TAB_KEY = "weft.tab";

/** The number of changes of a document that are on this device only, as far as a tab knows. */
export interface UnsentCount {
  /** The number when the document was opened: of this tab before, and of tabs that were closed. */
  readonly atStart: number;
  readonly set: (count: number) => void;
  readonly close: () => void;
}

/**
 * Keeps the number of this tab. A tab takes over the numbers of those that were closed, because it has loaded and sends
 * their changes. Tabs in `openBefore`, which were open before the content was loaded, may have changed it since.
 */
export async function keepUnsentCount(
  persistence: IndexeddbPersistence,
  openBefore: ReadonlySet<string>,
): Promise<UnsentCount> {
  const { name } = persistence;
  const own = `${PREFIX} ${tabId()}`;
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  // Shared: a tab that was duplicated has the same id. Without HTTPS, browsers have locks for this machine only.
  navigator.locks?.request(lockName(name, own), { mode: "shared" }, () => closed).catch(() => undefined);
  const open = new Set([...openBefore, ...(await openTabs())]);
  const taken = [...(await readUnsentCounts(persistence))].filter(
    ([key]) => key === own || !open.has(lockName(name, key)),
  );
  const atStart = taken.reduce((sum, [, count]) => sum + count, 0);
  const left = taken.map(([key]) => key).filter((key) => key !== own);
  if (left.length > 0) {
    await persistence.set(own, atStart);
    for (const key of left) await persistence.del(key);
  }
  return {
    atStart,
    set: (count) => {
      const written: Promise<unknown> = count > 0 ? persistence.set(own, count) : persistence.del(own);
      written.catch(() => undefined);
    },
    close,
  };
}

/** The numbers of all tabs, by their keys. */
export async function readUnsentCounts({ db }: IndexeddbPersistence): Promise<ReadonlyMap<string, number>> {
  if (db === null) return new Map();
  const store = db.transaction(STORE, "readonly").objectStore(STORE);
  const range = IDBKeyRange.bound(PREFIX, `${PREFIX}\uffff`);
  const [keys, values] = await Promise.all([
    resultOf(store.getAllKeys(range)),
    resultOf<unknown[]>(store.getAll(range)),
  ]);
  const counts = keys.map((key, at): [string, number] => [String(key), Number(values[at]) || 0]);
  return new Map(counts.filter(([, count]) => count > 0));
}

/** The locks of the tabs that have documents open. */
export async function openTabs(): Promise<ReadonlySet<string>> {
  const { held = [], pending = [] } = (await navigator.locks?.query()) ?? {};
  return new Set([...held, ...pending].flatMap(({ name = "" }) => name));
}

const lockName = (copy: string, key: string): string => `${copy} ${key}`;

function tabId(): string {
  const id = sessionStorage.getItem(TAB_KEY) ?? Math.random().toString(36).slice(2);
  sessionStorage.setItem(TAB_KEY, id);
  return id;
}

const resultOf = <Result>(request: IDBRequest<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
