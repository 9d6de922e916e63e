import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Ports } from "../../platform/ports.ts";
import { StepFailedError } from "../engine/step-failure.ts";
import {
  hashOf,
  isSameScan,
  removeEntry,
  type ScannedEntry,
  scanEntry,
  scanFolder,
  TooManyEntriesError,
  writeEntry,
} from "./folder.ts";
import {
  type Changes,
  contentKey,
  type Entry,
  foldLayers,
  LAYERS_MAX,
  layerKey,
  readLayer,
  sameEntry,
  type WorkspaceChange,
} from "./layers.ts";

/** Maximum number of concurrent file transfers. */
const TRANSFERS = 8;
/** Number of attempts to send a file that changes while it is sent. */
const SEND_TRIES = 3;

type SyncDeps = Pick<Ports, "blobs" | "ids" | "log">;

/** Keeps the workspaces of this machine equal to those of other machines, through the blob store. */
export interface WorkspaceSync {
  /** Updates a workspace's folder to its layers; creates the folder if necessary. */
  open(workspace: string, layers: readonly string[]): Promise<OpenWorkspace>;
}

export interface OpenWorkspace {
  /** Sends the changes of the folder; undefined if nothing changed. Throws StepFailedError. */
  finish(): Promise<WorkspaceChange | undefined>;
  /** Sends nothing; changes of the folder stay as they are. */
  leave(): void;
}

/** An entry as it was last shared, and its metadata in the folder at that time. */
interface Shared {
  readonly entry: Entry;
  readonly seen: ScannedEntry;
}

/** The state of a workspace's folder on this machine. */
interface Known {
  /** The layers that were applied last, and their merged entries. */
  layers: readonly string[];
  truth: ReadonlyMap<string, Entry>;
  /** The entries of the folder as they were last applied or sent. */
  readonly entries: Map<string, Shared>;
  /** Changes were sent since; the layers of the next step show whether they were committed. */
  sent: boolean;
  /** Number of steps that are using the workspace. */
  working: number;
  /** Serializes opening and finishing. */
  turn: Promise<unknown>;
}

/** `statesDir` stores the state of each folder across restarts; without a state, all files are read once. */
export function workspaceSync(
  deps: SyncDeps,
  paths: { readonly workspacesDir: string; readonly statesDir: string },
): WorkspaceSync {
  const known = new Map<string, Promise<Known>>();
  const stateFile = (workspace: string): string => join(paths.statesDir, `${workspace}.json`);
  const inTurn = <Result>(state: Known, work: () => Promise<Result>): Promise<Result> => {
    const done = state.turn.then(work);
    state.turn = done.catch(() => undefined);
    return done;
  };
  return {
    open: async (workspace, layers) => {
      let loading = known.get(workspace);
      if (loading === undefined) {
        loading = loadState(stateFile(workspace));
        known.set(workspace, loading);
      }
      const state = await loading;
      const root = join(paths.workspacesDir, workspace);
      await inTurn(state, async () => {
        await mkdir(root, { recursive: true });
        if (state.sent || !isSame(state.layers, layers)) {
          await apply(deps, workspace, root, state, layers);
          await saveState(stateFile(workspace), state);
        }
        state.working += 1;
      });
      let open = true;
      const leave = (): void => {
        if (open) state.working -= 1;
        open = false;
      };
      return {
        leave,
        finish: () =>
          inTurn(state, async () => {
            try {
              const change = await send(deps, workspace, root, state);
              const base =
                layers.length < LAYERS_MAX ? undefined : await mergeLayers(deps, workspace, layers);
              if (change !== undefined) await saveState(stateFile(workspace), state);
              if (change === undefined && base === undefined) return undefined;
              return {
                ...(change === undefined ? {} : { layer: change }),
                ...(base === undefined ? {} : { base }),
              };
            } catch (error) {
              if (error instanceof TooManyEntriesError) throw new StepFailedError(error.message);
              throw error;
            } finally {
              leave();
            }
          }),
      };
    },
  };
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((key, index) => key === other[index]);

/** Updates the folder to the layers. Files that a step of this machine is changing are left alone. */
async function apply(
  deps: SyncDeps,
  workspace: string,
  root: string,
  state: Known,
  layers: readonly string[],
): Promise<void> {
  const target = await targetOf(deps, state, layers);
  const differing = new Map<string, Entry | undefined>();
  for (const [path, { entry }] of state.entries)
    if (!sameEntry(entry, target.get(path))) differing.set(path, target.get(path));
  for (const [path, entry] of target)
    if (!sameEntry(state.entries.get(path)?.entry, entry)) differing.set(path, entry);
  const content = async (sha256: string): Promise<AsyncIterable<Uint8Array>> => {
    const stream = await deps.blobs.stream(contentKey(workspace, sha256));
    if (stream === undefined) throw new Error("a file of the workspace is missing in the blob store");
    return stream;
  };
  const change = async ([path, entry]: readonly [string, Entry | undefined]): Promise<void> => {
    const shared = state.entries.get(path);
    const seen = await scanEntry(join(root, path));
    if (state.working > 0 && !isSameScan(seen, shared?.seen)) return;
    if (entry === undefined) {
      await removeEntry(root, path);
      state.entries.delete(path);
      return;
    }
    if (seen?.kind !== "file" || !("sha256" in entry) || !(await holds(join(root, path), seen, entry)))
      await writeEntry(root, path, entry, content);
    const now = await scanEntry(join(root, path));
    if (now !== undefined) state.entries.set(path, { entry, seen: now });
  };
  // Entries are deleted first: a file may replace a folder.
  const entries = [...differing];
  for (const one of entries.filter(([, entry]) => entry === undefined)) await change(one);
  await inParallel(
    entries.filter(([, entry]) => entry !== undefined),
    change,
  );
  state.layers = [...layers];
  state.truth = target;
  state.sent = false;
}

/** Whether the file is already up to date, as after a start without a stored state. */
async function holds(path: string, seen: ScannedEntry & { kind: "file" }, entry: Entry): Promise<boolean> {
  if (!("sha256" in entry) || seen.bytes !== entry.bytes || seen.mode !== entry.mode) return false;
  return (await hashOf(path)) === entry.sha256;
}

/** Returns the merged entries of the layers; reads only the new layers if the others are known. */
async function targetOf(
  deps: SyncDeps,
  state: Known,
  layers: readonly string[],
): Promise<Map<string, Entry>> {
  const isLonger = isSame(state.layers, layers.slice(0, state.layers.length));
  const fresh = isLonger ? layers.slice(state.layers.length) : layers;
  const read: Changes[] = [];
  for (const key of fresh) read.push(await readLayer(deps.blobs, key));
  if (!isLonger) return foldLayers(read);
  return foldLayers([Object.fromEntries(state.truth), ...read]);
}

/** Sends the differences from the last shared state; returns the key of the layer. */
async function send(
  deps: SyncDeps,
  workspace: string,
  root: string,
  state: Known,
): Promise<string | undefined> {
  const found = await scanFolder(root);
  const changes: Record<string, Entry | null> = {};
  for (const path of state.entries.keys()) if (!found.has(path)) changes[path] = null;
  const changed = [...found].filter(([path, seen]) => !isSameScan(seen, state.entries.get(path)?.seen));
  await inParallel(changed, async ([path, seen]) => {
    const shared = await share(deps, workspace, root, path, seen, state.entries.get(path));
    if (shared === undefined) {
      if (state.entries.has(path)) changes[path] = null;
      return;
    }
    if (!sameEntry(shared.entry, state.entries.get(path)?.entry)) changes[path] = shared.entry;
    state.entries.set(path, shared);
  });
  const paths = Object.keys(changes);
  for (const path of paths) if (changes[path] === null) state.entries.delete(path);
  if (paths.length === 0) return undefined;
  state.sent = true;
  const key = layerKey(workspace, deps.ids.random());
  await deps.blobs.put(key, JSON.stringify(changes));
  return key;
}

/** Undefined if the entry was deleted meanwhile. */
async function share(
  deps: SyncDeps,
  workspace: string,
  root: string,
  path: string,
  first: ScannedEntry,
  before: Shared | undefined,
): Promise<Shared | undefined> {
  let seen: ScannedEntry | undefined = first;
  for (let tries = 1; seen !== undefined; tries += 1) {
    if (seen.kind === "link") return { entry: { link: seen.link }, seen };
    if (seen.kind === "folder") return { entry: { folder: true }, seen };
    const file = join(root, path);
    const sha256 = await hashOf(file).catch(() => undefined);
    if (sha256 !== undefined) {
      const entry = { sha256, bytes: seen.bytes, mode: seen.mode };
      const key = contentKey(workspace, sha256);
      const known = before !== undefined && "sha256" in before.entry && before.entry.sha256 === sha256;
      if (!known && (await deps.blobs.head(key)) === undefined) await deps.blobs.putFile(key, file);
      const after = await scanEntry(file);
      if (isSameScan(seen, after)) return { entry, seen };
      if (tries >= SEND_TRIES) throw new StepFailedError(`workspace: ${path} keeps changing after the step`);
      seen = after;
    } else seen = await scanEntry(file);
  }
  return undefined;
}

/** Merges many layers into one, so that their number does not grow with the number of executed steps. */
async function mergeLayers(
  deps: SyncDeps,
  workspace: string,
  layers: readonly string[],
): Promise<NonNullable<WorkspaceChange["base"]>> {
  const read: Changes[] = [];
  for (const key of layers) read.push(await readLayer(deps.blobs, key));
  const layer = layerKey(workspace, deps.ids.random());
  await deps.blobs.put(layer, JSON.stringify(Object.fromEntries(foldLayers(read))));
  return { layer, replaces: layers };
}

async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let item = items[next]; item !== undefined; item = items[next]) {
      next += 1;
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(TRANSFERS, items.length) }, lane));
}

interface StoredState {
  readonly layers: readonly string[];
  readonly truth: readonly (readonly [string, Entry])[];
  readonly entries: readonly (readonly [string, Shared])[];
}

/** An unreadable state is ignored: files are then compared by content. */
async function loadState(file: string): Promise<Known> {
  const fresh = { working: 0, turn: Promise.resolve(), sent: true };
  try {
    const { layers, truth, entries } = JSON.parse(await readFile(file, "utf8")) as StoredState;
    return { ...fresh, layers, truth: new Map(truth), entries: new Map(entries) };
  } catch {
    return { ...fresh, layers: [], truth: new Map(), entries: new Map() };
  }
}

async function saveState(file: string, { layers, truth, entries }: Known): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const state: StoredState = { layers, truth: [...truth], entries: [...entries] };
  await writeFile(`${file}.new`, JSON.stringify(state), { mode: 0o600 });
  await rename(`${file}.new`, file);
}
