import { PlatformFault } from "../../faults.ts";
import { openOnce } from "../../open-once.ts";
import { runInPool } from "../../scripts/run-in-pool.ts";
import type { Exec } from "../../scripts/script-job.ts";
import { ScriptPool } from "../../scripts/script-pool.ts";
import type { ScriptOutcome, ScriptRequest } from "../../scripts.ts";
import { PlainExpressions } from "./plain-expressions.ts";

/** As many as in the process of scripts: loops of some runs must not keep those of others from a thread for long. */
const MOST_THREADS = 8;
/** VMs that each thread keeps, some 1.5 MB each; only active runs return to theirs. */
const KEPT_GUESTS = 4;

/** The functions of the server's threads: such a function would allocate outside the VM, in this process. */
const NO_FUNCTIONS = new URL("data:text/javascript,export const callables = new Map();");

/** Whether a script names no function of the library, so that it needs nothing but its variables. */
export type IsSelfContained = (code: string) => boolean;

const noCommands: Exec = async () => ({ stdout: "", failure: "commands are not available here" });

/**
 * Evaluates plain expressions in the event loop, and other self-contained scripts in threads of this process. The
 * threads start with the first script and end after an idle time.
 */
export class OwnThreads {
  readonly #open: () => Promise<ScriptPool>;
  readonly #expressions = new PlainExpressions();
  readonly #isSelfContained: IsSelfContained;
  #pool: Promise<ScriptPool> | undefined;
  #isClosed = false;

  constructor(isSelfContained: IsSelfContained, { idleMs }: { readonly idleMs: number }) {
    this.#isSelfContained = isSelfContained;
    this.#open = openOnce(() =>
      ScriptPool.create({
        worker: new URL("../../scripts/script-worker.ts", import.meta.url),
        engine: new URL(import.meta.resolve("quickjs-wasi/quickjs.wasm")),
        functionsModule: NO_FUNCTIONS,
        exec: noCommands,
        execGraceMs: 0,
        fewestThreads: 0,
        mostThreads: MOST_THREADS,
        idleMs,
        keptGuests: KEPT_GUESTS,
      }),
    );
  }

  /**
   * Undefined if the script must be evaluated in another process. Rejects with PlatformFault `unavailable` if no thread
   * starts, and after `close`.
   */
  async run(request: ScriptRequest): Promise<ScriptOutcome | undefined> {
    if (this.#isClosed) throw new PlatformFault("unavailable", "scripts are closed");
    const evaluated = await this.#expressions.run(request);
    if (evaluated !== undefined) return evaluated;
    if (!this.#isSelfContained(request.code)) return undefined;
    this.#pool = this.#open();
    return runInPool(await this.#pool, request);
  }

  /** Ends the threads; scripts in progress fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    (await this.#pool)?.close();
  }
}
