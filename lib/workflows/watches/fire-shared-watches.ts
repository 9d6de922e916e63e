import type { Ports } from "../../platform/ports.ts";
import { CONFLICT, retryOnConflict } from "../../retry-on-conflict.ts";
import { type CatalogReader, enabledWatchTriggers } from "../store/catalog.ts";
import { onceKey } from "../store/trigger-tables.ts";
import { claimOnce, hashOf } from "../triggers/dedupe.ts";
import type { WorkspaceChanged } from "../workspaces/changed-event.ts";
import { type Entry, foldLayers, readLayer } from "../workspaces/layers.ts";
import { commitFire, tooManyConflicts, triggerInUse, type WatchDeps } from "./fire-watch.ts";
import { readPattern } from "./path-pattern.ts";
import { setWatchError, TOO_MANY_FILES, WATCHED_FILES_MAX, WATCHED_PATH_MAX_BYTES } from "./watch-errors.ts";

export type LayerDeps = WatchDeps &
  Pick<Ports, "tables" | "blobs"> & {
    readonly catalog: CatalogReader;
    /** Path of the folder of all workspaces in values of runs. */
    readonly workspacesDir: string;
  };

/** How long a fired change is remembered: longer than queues retain messages, milliseconds. */
const KNOWN_FOR_MS = 30 * 24 * 60 * 60 * 1000;

interface WrittenFile {
  readonly path: string;
  readonly file: string;
  readonly content: string;
}

interface ChangedFile {
  readonly file: string;
  readonly change: "new" | "changed";
}

/**
 * Fires the watch triggers whose files a step changed in a workspace that machines share, once per trigger and file. A
 * repeated message fires only what has not fired yet. Throws if a trigger reached its rate limit or time is up: the
 * message is delivered again.
 */
export async function fireSharedWatches(
  deps: LayerDeps,
  changed: WorkspaceChanged,
  signal: AbortSignal,
): Promise<void> {
  const wanted = enabledWatchTriggers(await deps.catalog.current());
  if (wanted.size === 0) return;
  const written = await writtenFiles(deps, changed);
  // The earlier content is read only if a trigger matches: it is spread over every layer of the workspace.
  let read: Promise<readonly ChangedFile[]> | undefined;
  for (const [scheduleId, { path }] of wanted) {
    const pattern = await readPattern(path, deps.workspacesDir, []).catch((error: Error) => error);
    if (pattern instanceof Error) {
      await setWatchError(deps, scheduleId, pattern.message);
      continue;
    }
    if (!written.some(({ file }) => pattern.matches(file))) continue;
    read ??= changedFiles(deps, changed, written);
    const matching = (await read).filter(({ file }) => pattern.matches(file));
    if (matching.length > WATCHED_FILES_MAX) await setWatchError(deps, scheduleId, TOO_MANY_FILES);
    for (const one of matching.slice(0, WATCHED_FILES_MAX)) {
      signal.throwIfAborted();
      await fireOnce(deps, scheduleId, changed, one);
    }
  }
}

/** Files of the step's own layer, by their paths in runs. */
async function writtenFiles(
  { blobs, workspacesDir }: LayerDeps,
  { workspace, layer }: WorkspaceChanged,
): Promise<WrittenFile[]> {
  return Object.entries(await readLayer(blobs, layer)).flatMap(([path, entry]): WrittenFile[] => {
    const content = contentOf(entry);
    const file = `${workspacesDir}/${workspace}/${path}`;
    if (content === undefined || Buffer.byteLength(file) > WATCHED_PATH_MAX_BYTES) return [];
    return [{ path, content, file }];
  });
}

/** The files whose content changed. */
async function changedFiles(
  { blobs }: LayerDeps,
  { earlier }: WorkspaceChanged,
  written: readonly WrittenFile[],
): Promise<ChangedFile[]> {
  const before = foldLayers(await Promise.all(earlier.map((key) => readLayer(blobs, key))));
  return written.flatMap(({ path, content, file }): ChangedFile[] => {
    const known = contentOf(before.get(path));
    return content === known ? [] : [{ file, change: known === undefined ? "new" : "changed" }];
  });
}

const contentOf = (entry: Entry | null | undefined): string | undefined =>
  entry != null && "sha256" in entry ? entry.sha256 : undefined;

async function fireOnce(
  deps: LayerDeps,
  scheduleId: string,
  { workspace, layer, hop, root_cause }: WorkspaceChanged,
  { file, change }: ChangedFile,
): Promise<void> {
  const key = onceKey(scheduleId, hashOf(`${layer}\n${file}`));
  const fire = async () => {
    const claim = await claimOnce(deps, key, KNOWN_FOR_MS);
    if (claim.taken || claim.write === undefined) return;
    const trigger = await triggerInUse(deps, scheduleId);
    if (trigger === undefined) return;
    if (!(await deps.breaker.take(scheduleId))) throw new Error(`${scheduleId} ${deps.breaker.reason}`);
    const { write } = claim;
    const cause = { hop, ...(root_cause !== undefined && { root_cause }) };
    const isFired = await commitFire(deps, { ...trigger, file, change, workspace, cause, seen: () => write });
    return isFired ? undefined : CONFLICT;
  };
  await retryOnConflict(fire, { exceeded: () => tooManyConflicts(scheduleId) });
}
