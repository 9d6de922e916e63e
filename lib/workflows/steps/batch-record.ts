import { redactJsonText } from "../../events/redact-json.ts";
import type { LeafStep } from "../schema/types.ts";
import type { Attempt } from "./context.ts";
import { executionTargetOf } from "./execution-target.ts";
import { toLocalPaths, toPortablePaths } from "./portable-paths.ts";

/** A result is recorded so long after it came at the latest, milliseconds. A batch that is done sooner records nothing. */
const RECORD_AFTER_MS = 2_000;

/** How an item of a batch ended. */
export interface ItemResult {
  readonly output: string;
  /** Why it failed; left out where it did not. */
  readonly error?: string;
}

/** Which items of a batch have ended, and how: kept in blobs, so that a crash repeats only those that are not there. */
export interface BatchRecord {
  /** Of attempts before this one, by the positions of the items. */
  readonly done: ReadonlyMap<number, ItemResult>;
  add(index: number, result: ItemResult): void;
  /** Records what is not recorded yet: for an attempt that ends before its batch does. Never rejects. */
  keep(): Promise<void>;
  /** The batch is done: nothing of it is recorded any more. */
  close(): Promise<void>;
}

/**
 * Opens the record of a batch. Where machines share workspaces, a step that works on files has none: those of an item
 * come to other machines with the whole batch.
 */
export async function openBatchRecord(attempt: Attempt, step: LeafStep): Promise<BatchRecord> {
  const { deps, run, request, number } = attempt;
  if (deps.workspaceSync !== undefined && executionTargetOf(step, { phase: "run" }) === "workspace")
    return NO_RECORD;
  // A goto may lead to the same items once more; the name has ids and numbers only.
  const name = Buffer.from(`${request.key} ${request.round ?? 0}`)
    .toString("hex")
    .slice(0, 240);
  const key = `runs/${run.run_id}/done/${name}`;
  const done = number > 1 ? await read(attempt, key) : new Map<number, ItemResult>();
  const all = new Map(done);
  let recorded = all.size;
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();
  const write = async (): Promise<void> => {
    if (all.size === recorded) return;
    const { size } = all;
    try {
      const items = toPortablePaths(deps, [...all]);
      await deps.blobs.put(key, redactJsonText(items, deps.secrets.redact));
      recorded = size;
    } catch (error) {
      deps.log.warn("results of items could not be recorded", { run: run.run_id, step: request.key, error });
    }
  };
  const keep = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(write);
    return writing;
  };
  return {
    done,
    add: (index, result) => {
      all.set(index, result);
      timer ??= setTimeout(() => void keep(), RECORD_AFTER_MS).unref();
    },
    keep,
    close: () => {
      clearTimeout(timer);
      return writing;
    },
  };
}

const NO_RECORD: BatchRecord = {
  done: new Map(),
  add: () => undefined,
  keep: async () => undefined,
  close: async () => undefined,
};

async function read({ deps }: Attempt, key: string): Promise<Map<number, ItemResult>> {
  const bytes = await deps.blobs.get(key);
  if (bytes === undefined) return new Map();
  return new Map(
    toLocalPaths(deps, JSON.parse(Buffer.from(bytes).toString("utf8")) as [number, ItemResult][]),
  );
}
