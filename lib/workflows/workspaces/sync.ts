import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Ports } from "../../platform/ports.ts";
import { StepFailed } from "../engine/step-failure.ts";
import {
  hashOf,
  layEntry,
  removeEntry,
  type Seen,
  sameSeen,
  scanFolder,
  seenAt,
  TooManyEntries,
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

/** Files that are fetched or sent at the same time. */
const TRANSFERS = 8;
/** A file that changes while it is sent is sent again, so often. */
const SEND_TRIES = 3;

type SyncDeps = Pick<Ports, "blobs" | "ids" | "log">;

/** Workspaces of this machine, kept the same as those of other machines through the blob store. */
export interface WorkspaceSync {
  /** Brings a workspace's folder to what its layers say; the folder is there afterwards. */
  open(workspace: string, layers: readonly string[]): Promise<OpenWorkspace>;
}

export interface OpenWorkspace {
  /** Sends what has changed in the folder; undefined where nothing has. Throws StepFailed. */
  finish(): Promise<WorkspaceChange | undefined>;
  /** Without sending: what was changed in it is left as it is. */
  leave(): void;
}

/** An entry as it was shared last, and as it lay in the folder then. */
interface Shared {
  readonly entry: Entry;
  readonly seen: Seen;
}

/** What is known of a workspace's folder on this machine. */
interface Known {
  /** Those that were applied last, and what they say together. */
  layers: readonly string[];
  truth: ReadonlyMap<string, Entry>;
  /** What lies in the folder, as it was applied or sent last. */
  readonly entries: Map<string, Shared>;
  /** Something was sent since: whether it counts, the layers of the next step say. */
  sent: boolean;
  /** Steps that work in it now. */
  working: number;
  /** Opening and finishing follow each other. */
  turn: Promise<unknown>;
}

/** `statesDir` keeps what is known of each folder between starts; without it all files are read once. */
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
              if (error instanceof TooManyEntries) throw new StepFailed(error.message);
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

/** The folder as the layers say. What a step of this machine is changing right now stays its own. */
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
    if (stream === undefined) throw new Error("a file of the workspace is gone from the blob store");
    return stream;
  };
  const change = async ([path, entry]: readonly [string, Entry | undefined]): Promise<void> => {
    const shared = state.entries.get(path);
    const seen = await seenAt(join(root, path));
    if (state.working > 0 && !sameSeen(seen, shared?.seen)) return;
    if (entry === undefined) {
      await removeEntry(root, path);
      state.entries.delete(path);
      return;
    }
    if (seen?.kind !== "file" || !("sha256" in entry) || !(await holds(join(root, path), seen, entry)))
      await layEntry(root, path, entry, content);
    const now = await seenAt(join(root, path));
    if (now !== undefined) state.entries.set(path, { entry, seen: now });
  };
  // What is taken away makes room first: a file may be where a folder was.
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

/** Whether a file is there already, as after a start without a state. */
async function holds(path: string, seen: Seen & { kind: "file" }, entry: Entry): Promise<boolean> {
  if (!("sha256" in entry) || seen.bytes !== entry.bytes || seen.mode !== entry.mode) return false;
  return (await hashOf(path)) === entry.sha256;
}

/** What the layers say together; only those that are new are read where the others are known. */
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

/** Sends what differs from what was shared last; answers the layer's key. */
async function send(
  deps: SyncDeps,
  workspace: string,
  root: string,
  state: Known,
): Promise<string | undefined> {
  const found = await scanFolder(root);
  const changes: Record<string, Entry | null> = {};
  for (const path of state.entries.keys()) if (!found.has(path)) changes[path] = null;
  const changed = [...found].filter(([path, seen]) => !sameSeen(seen, state.entries.get(path)?.seen));
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

/** Undefined where the entry is gone meanwhile. */
async function share(
  deps: SyncDeps,
  workspace: string,
  root: string,
  path: string,
  first: Seen,
  before: Shared | undefined,
): Promise<Shared | undefined> {
  let seen: Seen | undefined = first;
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
      const after = await seenAt(file);
      if (sameSeen(seen, after)) return { entry, seen };
      if (tries >= SEND_TRIES) throw new StepFailed(`workspace: ${path} goes on changing after the step`);
      seen = after;
    } else seen = await seenAt(file);
  }
  return undefined;
}

/** One layer for many, so that their number does not grow with the steps that were ever executed. */
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

/** A state that cannot be read is none: files are then compared by what they hold. */
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
