import { rmSync } from "node:fs";
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { PlatformFault } from "../../faults.ts";
import { toStorageFault } from "../storage-faults.ts";
import { Store } from "../store.ts";
import type {
  FromIndexThread,
  IndexCallName,
  IndexCalls,
  IndexThreadData,
  ToIndexThread,
} from "./protocol.ts";
import { TextIndex } from "./text-index.ts";

/** The thread of the full-text index: the database is open in it alone. */

/** Edits do not wait for the index, so it waits for them when there is too little CPU time. */
const NICENESS = 5;
if (process.platform === "linux") setPriority(NICENESS);

const { path } = workerData as IndexThreadData;
let store: Store | undefined;
let index: TextIndex | undefined;

type Handlers = {
  readonly [Name in IndexCallName]: (
    ...args: IndexCalls[Name]["args"]
  ) => IndexCalls[Name]["result"] | Promise<IndexCalls[Name]["result"]>;
};

const handlers: Handlers = {
  get: (ids) => open().get(ids),
  put: (text, replaces) => open().put(text, replaces),
  find: (terms, known) => open().find(terms, known),
  shrink: () => store?.shrink() as undefined,
  close: () => {
    store?.close();
    // The results of the last writes are sent before.
    setImmediate(() => parentPort?.close());
    return undefined;
  },
};

function open(): TextIndex {
  if (index !== undefined) return index;
  const opened = new Store(path);
  try {
    index = new TextIndex(opened);
  } catch (error) {
    opened.close();
    throw error;
  }
  store = opened;
  return index;
}

/** The texts are indexed again, because the index does not say that it contains all of them. */
function replace(why: unknown): void {
  try {
    store?.close();
  } catch {
    // A damaged file is removed below.
  }
  store = undefined;
  index = undefined;
  for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(`${path}${end}`, { force: true });
  send({ kind: "replaced", why: String(why) });
}

async function call({ name, args }: ToIndexThread): Promise<unknown> {
  const handle = handlers[name] as (...args: readonly unknown[]) => unknown;
  try {
    return await handle(...args);
  } catch (error) {
    const fault = toStorageFault(error);
    if (!(fault instanceof PlatformFault) || fault.code !== "storage_damaged") throw fault;
    replace(fault);
    return await handle(...args);
  }
}

function send(message: FromIndexThread, transfer: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer);
}

parentPort?.on("message", async (message: ToIndexThread) => {
  const { id } = message;
  try {
    const value = await call(message);
    const places = (value as Partial<IndexCalls["find"]["result"]> | undefined)?.places;
    send({ kind: "done", id, value }, places === undefined ? [] : [places.buffer]);
  } catch (error) {
    const code = error instanceof PlatformFault ? error.code : undefined;
    send({ kind: "failed", id, code, message: error instanceof Error ? error.message : String(error) });
  }
});
