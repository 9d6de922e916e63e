import { COLOR_SCHEME_KEY } from "../color-scheme.ts";

/** Begins the names of the databases with copies of documents. */
const PREFIX = "weft";
/** What stays on the device at logout: language and theme are no one's data. */
const KEPT = new Set(["weft.language", COLOR_SCHEME_KEY]);

/** Names the copy of a document: each user and each generation of the content has one of its own. */
export const copyName = (user: string, id: string, generation: number): string =>
  `${PREFIX}:${user}:${id}:${generation}`;

/** The key in local storage of changes that a copy's database has not written. */
export const unwrittenKey = (name: string): string => `weft.unwritten:${name}`;

interface Copy {
  readonly name: string;
  readonly user: string;
  readonly id: string;
  readonly generation: number;
}

/** The copies on this device; none if the browser has no storage for them. */
export async function listCopies(): Promise<readonly Copy[]> {
  try {
    return (await indexedDB.databases()).flatMap(({ name = "" }) => {
      const [prefix, user, id, generation] = name.split(":");
      if (prefix !== PREFIX || user === undefined || id === undefined) return [];
      return [{ name, user, id, generation: Number(generation) }];
    });
  } catch {
    // Browsers of 2023 cannot list them.
    return [];
  }
}

/** Deletes those copies that fit. */
export async function deleteCopies(fits: (copy: Copy) => boolean): Promise<void> {
  await Promise.all((await listCopies()).filter(fits).map(({ name }) => deleteDatabase(name)));
}

/** Resolves at once if another tab still uses the database: it is deleted when that tab lets go. */
const deleteDatabase = (name: string): Promise<void> =>
  new Promise((resolve) => {
    localStorage.removeItem(unwrittenKey(name));
    const request = indexedDB.deleteDatabase(name);
    request.onsuccess = () => resolve();
    request.onerror = () => resolve();
    request.onblocked = () => resolve();
  });

/** The user whose copies are on this device; undefined without copies. */
export async function localUser(): Promise<string | undefined> {
  return (await listCopies())[0]?.user;
}

/** Begins the keys of the texts of workflows that were not saved. */
const DRAFT_PREFIX = "weft.draft:";

/** Where the draft of a workflow is stored. */
export const draftKey = (user: string, workflow: string): string => `${DRAFT_PREFIX}${user}:${workflow}`;

/** Number of workflows with changes that were not saved. */
export const countDrafts = (user: string): number =>
  Object.keys(localStorage).filter((key) => key.startsWith(draftKey(user, ""))).length;

/** Deletes what other users have left on this device. */
export async function wipeDataOfOthers(id: string): Promise<void> {
  for (const key of Object.keys(localStorage))
    if (key.startsWith(DRAFT_PREFIX) && !key.startsWith(draftKey(id, ""))) localStorage.removeItem(key);
  await deleteCopies(({ user }) => user !== id);
}

/** Deletes all that this device has stored about the user, and the page that works without a connection. */
export async function wipeLocalData(): Promise<void> {
  for (const key of Object.keys(localStorage)) if (!KEPT.has(key)) localStorage.removeItem(key);
  sessionStorage.clear();
  await Promise.all([deleteCopies(() => true), deleteOfflinePage().catch(() => undefined)]);
}

async function deleteOfflinePage(): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  const registrations = await navigator.serviceWorker.getRegistrations();
  await Promise.all(registrations.map((registration) => registration.unregister()));
  await Promise.all((await caches.keys()).map((name) => caches.delete(name)));
}
