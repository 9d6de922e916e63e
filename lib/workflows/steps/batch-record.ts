import { redactJsonText } from "../../events/redact-json.ts";
import type { LeafStep } from "../schema/types.ts";
import type { Attempt } from "./context.ts";
import { executionTargetOf } from "./execution-target.ts";
import { toLocalPaths, toPortablePaths } from "./portable-paths.ts";

/** Maximum delay before a result is recorded, milliseconds. A batch that finishes earlier records nothing. */
const RECORD_AFTER_MS = 2_000;

/** The result of one item of a batch. */
export interface ItemResult {
  readonly output: string;
  /** Absent if the item succeeded. */
  readonly error?: string;
}

/** The results of finished items of a batch, stored in blobs, so that only unrecorded items run again after a crash. */
export interface BatchRecord {
  /** Results of earlier attempts, by item position. */
  readonly done: ReadonlyMap<number, ItemResult>;
  add(index: number, result: ItemResult): void;
  /** Records the remaining results, for an attempt that ends before its batch. Never rejects. */
  keep(): Promise<void>;
  /** Stops recording, since the batch has finished. */
  close(): Promise<void>;
}

/**
 * Opens the record of a batch. If machines share workspaces, a step that uses files has no record: files of its items
 * reach other machines only with the complete batch.
 */
export async function openBatchRecord(attempt: Attempt, step: LeafStep): Promise<BatchRecord> {
  const { deps, run, request, number } = attempt;
  if (deps.workspaceSync !== undefined && executionTargetOf(step, { phase: "run" }) === "workspace")
    return NO_RECORD;
  // A goto may lead to the same items again, so the name includes the round. It contains only ids and numbers.
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
      deps.log.warn("recording results of items failed", { run: run.run_id, step: request.key, error });
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
