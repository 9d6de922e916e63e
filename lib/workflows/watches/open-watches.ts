import { mkdir } from "node:fs/promises";
import type { WatchTrigger } from "../schema/types.ts";
import { type Catalog, type CatalogReader, enabledWatchTriggers } from "../store/catalog.ts";
import { scheduleKey, schedulesTable } from "../store/trigger-tables.ts";
import { deleteAllFileStates } from "./file-states.ts";
import { type Watcher, watchFiles } from "./file-watcher.ts";
import type { WatchDeps } from "./fire-watch.ts";
import { readPattern } from "./path-pattern.ts";
import { setWatchError, TOO_MANY_FILES } from "./watch-errors.ts";

/** Maximum number of triggers whose files are watched; the schedules of further ones show an error. */
const WATCHES_MAX = 100;

/** How often new, changed and disabled triggers are looked up, with one read; milliseconds. */
const LOOK_MS = 1_000;

export type WatchesDeps = WatchDeps & {
  readonly catalog: CatalogReader;
  /** Absolute. */
  readonly workspacesDir: string;
  readonly watchRoots: readonly string[];
};

export interface Watches {
  /** Updates the watchers to the current triggers. */
  look(): Promise<void>;
  close(): Promise<void>;
}

interface Watched {
  readonly spec: WatchTrigger;
  readonly watcher: Watcher | undefined;
}

/** Watches the files of all enabled watch triggers on this machine, and follows changes of the triggers. */
export async function openWatches(deps: WatchesDeps): Promise<Watches> {
  await mkdir(deps.workspacesDir, { recursive: true });
  const open = new Map<string, Watched>();
  let work = Promise.resolve();

  const begin = async (scheduleId: string, spec: WatchTrigger): Promise<void> => {
    let watcher: Watcher | undefined;
    let problem = "";
    try {
      if (open.size >= WATCHES_MAX) throw new Error(`more than ${WATCHES_MAX} watch triggers`);
      const pattern = await readPattern(spec.path, deps.workspacesDir, deps.watchRoots);
      const row = await deps.tables.get(schedulesTable, scheduleKey(scheduleId));
      const since = Date.parse(row?.updated_at ?? new Date(deps.clock.now()).toISOString());
      watcher = await watchFiles(deps, { scheduleId, since, spec }, pattern, () => {
        void setWatchError(deps, scheduleId, TOO_MANY_FILES);
      });
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
      deps.log.error("a watch trigger cannot watch its path", { schedule: scheduleId, error: problem });
    }
    open.set(scheduleId, { spec, watcher });
    await setWatchError(deps, scheduleId, problem);
  };
  let last: Catalog | undefined;
  const look = async (): Promise<void> => {
    const catalog = await deps.catalog.current();
    if (catalog === last) return;
    const wanted = enabledWatchTriggers(catalog);
    for (const [scheduleId, { spec, watcher }] of open) {
      const now = wanted.get(scheduleId);
      if (now !== undefined && now.path === spec.path && now.debounce === spec.debounce) continue;
      await watcher?.close();
      open.delete(scheduleId);
      if (now === undefined) await deleteAllFileStates(deps, scheduleId);
    }
    for (const [scheduleId, spec] of wanted) if (!open.has(scheduleId)) await begin(scheduleId, spec);
    last = catalog;
  };
  const queued = (): Promise<void> => {
    work = work.then(look).catch((error: unknown) => deps.log.error("watch triggers", { error }));
    return work;
  };
  await queued();
  const timer = setInterval(() => void queued(), LOOK_MS);
  timer.unref();
  return {
    look: queued,
    close: async () => {
      clearInterval(timer);
      await work;
      await Promise.all([...open.values()].map(({ watcher }) => watcher?.close()));
      open.clear();
    },
  };
}
