import type { Stats } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { FSWatcher } from "chokidar";
import { parseDuration } from "../../durations.ts";
import type { WatchTrigger } from "../schema/types.ts";
import type { StepSpan } from "../steps/step-activity.ts";
import { deleteFileStates, readFileStates, stampOf, storeInitialStates } from "./file-states.ts";
import { type FileHistory, fireWatch, type WatchDeps } from "./fire-watch.ts";
import { nearestFolder, type WatchPattern } from "./path-pattern.ts";
import { WATCHED_FILES_MAX, WATCHED_PATH_MAX_BYTES } from "./watch-errors.ts";

/** Default time without changes before a file fires, milliseconds. */
const DEFAULT_DEBOUNCE_MS = 500;
/** A file counts as written after this time without growth, milliseconds. */
const SETTLED_MS = 100;
/** Delay before a newly watched folder is read again, milliseconds. */
const LOOK_AGAIN_MS = 1_000;
/** Delay before a file is checked again whose event could not be recorded or exceeded the rate limit, milliseconds. */
const AGAIN_MS = 10_000;
/** Delay before a file with an undecided cause is checked again, milliseconds. */
const OPEN_MS = 1_000;

export interface WatchedTrigger {
  readonly scheduleId: string;
  /** When the trigger was enabled, milliseconds since the epoch. */
  readonly since: number;
  readonly spec: WatchTrigger;
}

interface FoundFile {
  readonly stamp: string;
  readonly changedAt: number;
  readonly cameAt: number;
  readonly writers: readonly StepSpan[];
}

function historyOf(found: ReadonlyMap<string, FoundFile>, file: string): FileHistory {
  const { cameAt = 0, writers = [] } = found.get(file) ?? {};
  return {
    writers,
    isFedFromOutside: (rootCause) =>
      [...found.values()].some(
        (other) => other.cameAt > cameAt && !other.writers.some(({ root_cause }) => root_cause === rootCause),
      ),
  };
}

export interface Watcher {
  close(): Promise<void>;
}

/**
 * Watches the files of a trigger. Files older than the trigger do not fire; a file that changed since it was last
 * watched fires once; then each new or changed file fires after the trigger's `debounce` without changes. `tooMany` is
 * called if there are more files than the limit.
 */
export async function watchFiles(
  deps: WatchDeps,
  { scheduleId, since, spec }: WatchedTrigger,
  pattern: WatchPattern,
  tooMany: () => void,
): Promise<Watcher> {
  const debounceMs = parseDuration(spec.debounce ?? "") ?? DEFAULT_DEBOUNCE_MS;
  const waiting = new Map<string, NodeJS.Timeout>();
  const under = new Set<Promise<void>>();
  const found = new Map<string, FoundFile>();
  let isReady = false;
  let isClosed = false;

  const track = (task: Promise<void>): void => {
    const done = task
      .catch((error: unknown) => deps.log.error("watched files", { schedule: scheduleId, error }))
      .finally(() => under.delete(done));
    under.add(done);
  };
  const arm = (file: string, milliseconds: number): void => {
    if (isClosed) return;
    clearTimeout(waiting.get(file));
    waiting.set(
      file,
      setTimeout(() => {
        waiting.delete(file);
        track(fire(file));
      }, milliseconds),
    );
  };
  const fire = async (file: string): Promise<void> => {
    try {
      const outcome = await fireWatch(deps, scheduleId, file, historyOf(found, file));
      if (outcome !== "done") arm(file, outcome === "soon" ? OPEN_MS : AGAIN_MS);
    } catch (error) {
      arm(file, AGAIN_MS);
      throw error;
    }
  };
  const take = (file: string, stats: Stats | undefined): void => {
    if (stats?.isFile() !== true || !pattern.matches(file)) return;
    if (Buffer.byteLength(file) > WATCHED_PATH_MAX_BYTES) return;
    if (!found.has(file) && found.size >= WATCHED_FILES_MAX) {
      tooMany();
      return;
    }
    found.set(file, {
      stamp: stampOf(stats),
      changedAt: Math.floor(stats.mtimeMs),
      // A moved file keeps its modification time, but not its change time.
      cameAt: stats.ctimeMs,
      writers: deps.stepActivity?.at(stats.ctimeMs) ?? [],
    });
    if (isReady) arm(file, debounceMs);
  };

  const watcher = await openFolder(pattern);
  const forgetFolders = lookAgain(watcher, pattern, track, (file) => found.has(file));
  watcher.on("add", take);
  watcher.on("change", take);
  watcher.on("unlink", (file) => {
    if (!found.delete(file)) return;
    clearTimeout(waiting.get(file));
    waiting.delete(file);
    if (isReady) track(deleteFileStates(deps, scheduleId, [file]));
  });
  watcher.on("error", (error) => deps.log.error("watching files failed", { schedule: scheduleId, error }));
  await new Promise<void>((resolve) => watcher.once("ready", () => resolve()));
  const seen = await readFileStates(deps, scheduleId, spec.path);
  const old = new Map(
    [...found].flatMap(([file, { stamp, changedAt }]) => (changedAt <= since ? [[file, stamp]] : [])),
  );
  if (!seen.isKnown) await storeInitialStates(deps, scheduleId, spec.path, old);
  isReady = true;
  const known = seen.isKnown ? new Map([...seen.files].map(([file, { stamp }]) => [file, stamp])) : old;
  for (const [file, { stamp }] of found) if (known.get(file) !== stamp) arm(file, debounceMs);
  if (seen.isKnown) {
    await deleteFileStates(
      deps,
      scheduleId,
      [...seen.files.keys()].filter((file) => !found.has(file)),
    );
  }
  return {
    close: async () => {
      isClosed = true;
      forgetFolders();
      for (const timer of waiting.values()) clearTimeout(timer);
      waiting.clear();
      await watcher.close();
      await Promise.all(under);
    },
  };
}

/**
 * A folder is read before it is watched, so entries created in between would be missed until the next change in it:
 * each new folder is read again after a delay, and unknown entries are watched too. Returns a function that clears the
 * timers, to be called when the watcher is closed.
 */
function lookAgain(
  watcher: FSWatcher,
  pattern: WatchPattern,
  track: (task: Promise<void>) => void,
  isFound: (file: string) => boolean,
): () => void {
  const folders = new Map<string, NodeJS.Timeout>();
  const look = async (folder: string): Promise<void> => {
    // The folder may be deleted or unreadable; the first read has reported that.
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    // Adding a path would reopen a closed watcher.
    if (watcher.closed) return;
    const missed = entries.filter((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return !folders.has(path) && pattern.leadsOn(path);
      return entry.isFile() && !isFound(path) && pattern.matches(path);
    });
    if (missed.length > 0) watcher.add(missed.map(({ name }) => join(folder, name)));
  };
  watcher.on("addDir", (folder) => {
    if (folders.has(folder)) return;
    const again = (): void => track(look(folder));
    folders.set(folder, setTimeout(again, LOOK_AGAIN_MS));
  });
  watcher.on("unlinkDir", (folder) => {
    clearTimeout(folders.get(folder));
    folders.delete(folder);
  });
  return () => {
    for (const timer of folders.values()) clearTimeout(timer);
  };
}

/** If the folder does not exist yet, watches its nearest existing ancestor, restricted to the path to the folder. */
async function openFolder(pattern: WatchPattern): Promise<FSWatcher> {
  const { watch } = await import("chokidar");
  return watch(nearestFolder(pattern.base), {
    ignored: (path, stats) =>
      stats?.isFile() === true ? !pattern.matches(path) : !(pattern.leadsOn(path) || pattern.matches(path)),
    awaitWriteFinish: { stabilityThreshold: SETTLED_MS, pollInterval: 25 },
    followSymlinks: false,
    alwaysStat: true,
  });
}
