import { type ChildProcess, fork } from "node:child_process";
import { createInterface } from "node:readline";
import type { Conversion, ConversionResult, Converter } from "../../converter.ts";
import { PlatformFault } from "../../faults.ts";
import type { Log } from "../../log.ts";
import type { FromConverter, ToConverter } from "./protocol.ts";

/** Loading takes some seconds on a busy machine. */
const READY_LIMIT_MS = 30_000;
const CONVERSION_LIMIT_MS = 10_000;
/** An idle process is ended because it uses some 180 MB. */
const IDLE_MS = 3 * 60_000;
const CLOSE_LIMIT_MS = 3_000;
const WAITING_MAX = 64;
/** Heap limit in MB; exceeding it ends the process. */
const HEAP_MB = 512;
/** Exit code and signal of a process whose heap is full. */
const HEAP_FULL = { code: 134, signal: "SIGABRT" };
const ENV_NAMES = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR"] as const;

export interface ConverterOptions {
  readonly log: Log;
  /** Whether the process loads the editor's writers and columns. Default: no. */
  readonly withEditorWriters?: boolean;
  /** Overrides of the limits, in milliseconds. */
  readonly conversionLimitMs?: number;
  readonly idleMs?: number;
  /** The program; default: the converter. */
  readonly program?: URL;
}

export interface ConverterProcess extends Converter {
  /** 0 before the first conversion, and while no process runs. */
  readonly pid: number;
  /** Ends the process; pending conversions are rejected. */
  close(): Promise<void>;
}

interface Job {
  readonly conversion: Conversion;
  resolve(converted: ConversionResult): void;
  reject(error: unknown): void;
}

interface Running {
  readonly child: ChildProcess;
  readonly ready: Promise<void>;
  readonly gone: Promise<{ readonly code: number | null; readonly signal: string | null }>;
}

/**
 * Runs conversions in a separate process, one at a time. The first conversion starts it, some idle minutes end it, and
 * a conversion that exceeds its time or memory limit restarts it.
 */
export function converterProcess(options: ConverterOptions): ConverterProcess {
  const { log, withEditorWriters = false } = options;
  const { conversionLimitMs = CONVERSION_LIMIT_MS, idleMs = IDLE_MS } = options;
  const program = options.program ?? new URL("./main.ts", import.meta.url);
  const waiting: Job[] = [];
  let running: Running | undefined;
  let idle: NodeJS.Timeout | undefined;
  let isBusy = false;
  let isClosed = false;
  let lastId = 0;

  const start = (): Running => {
    const env = Object.fromEntries(
      ENV_NAMES.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
    );
    const child = fork(program, [], {
      env: withEditorWriters ? { ...env, PUBLISH_AS_MIT: "false", NODE_ENV: "production" } : env,
      execArgv: [`--max-old-space-size=${HEAP_MB}`],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    if (child.stderr !== null)
      createInterface({ input: child.stderr }).on("line", (line) => log.debug("converter process", { line }));
    const gone = new Promise<Awaited<Running["gone"]>>((resolve) => {
      child.once("exit", (code, signal) => resolve({ code, signal }));
      child.on("error", () => {
        if (child.pid === undefined) resolve({ code: null, signal: null });
      });
    });
    const ready = new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => child.kill("SIGKILL"), READY_LIMIT_MS);
      const isReady = (message: FromConverter): void => {
        if (message.kind !== "ready") return;
        clearTimeout(late);
        child.off("message", isReady);
        resolve();
      };
      child.on("message", isReady);
      void gone.then((how) => {
        clearTimeout(late);
        reject(new PlatformFault("unavailable", `the converter did not start: ${JSON.stringify(how)}`));
      });
    });
    ready.catch(() => undefined);
    const started = { child, ready, gone };
    void gone.then(() => {
      if (running === started) running = undefined;
    });
    return started;
  };

  const convert = async (
    { child, ready, gone }: Running,
    conversion: Conversion,
  ): Promise<ConversionResult> => {
    await ready;
    lastId += 1;
    const id = lastId;
    let isLate = false;
    const late = setTimeout(() => {
      isLate = true;
      child.kill("SIGKILL");
    }, conversionLimitMs);
    const { promise, resolve } = Promise.withResolvers<ConversionResult>();
    const answered = (message: FromConverter): void => {
      if (message.kind === "ready" || message.id !== id) return;
      if (message.kind === "refused") log.info("converting content failed", { why: message.why });
      resolve(
        message.kind === "converted" ? { ok: true, value: message.value } : { ok: false, reason: "refused" },
      );
    };
    child.on("message", answered);
    try {
      child.send({ id, conversion } satisfies ToConverter, () => undefined);
      const ended = gone.then(({ code, signal }): ConversionResult => {
        if (isLate) return { ok: false, reason: "timeout" };
        if (code === HEAP_FULL.code || signal === HEAP_FULL.signal) return { ok: false, reason: "memory" };
        throw new PlatformFault("unavailable", "the converter process ended");
      });
      return await Promise.race([promise, ended]);
    } finally {
      clearTimeout(late);
      child.off("message", answered);
    }
  };

  const end = async (): Promise<void> => {
    clearTimeout(idle);
    const ending = running;
    running = undefined;
    if (ending === undefined) return;
    const last = setTimeout(() => ending.child.kill("SIGKILL"), CLOSE_LIMIT_MS);
    if (ending.child.connected) ending.child.disconnect();
    await ending.gone;
    clearTimeout(last);
  };

  const serve = async (): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    clearTimeout(idle);
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      try {
        running ??= start();
        job.resolve(await convert(running, job.conversion));
      } catch (error) {
        job.reject(error);
      }
    }
    isBusy = false;
    idle = setTimeout(() => void end(), idleMs);
    idle.unref();
  };

  return {
    get pid() {
      return running?.child.pid ?? 0;
    },
    convert: (conversion) =>
      new Promise((resolve, reject) => {
        if (isClosed) throw new PlatformFault("unavailable", "the converter is closed");
        if (waiting.length >= WAITING_MAX)
          throw new PlatformFault("throttled", "too many conversions are waiting");
        waiting.push({ conversion, resolve, reject });
        void serve();
      }),
    close: async () => {
      isClosed = true;
      for (const { reject } of waiting.splice(0))
        reject(new PlatformFault("unavailable", "the converter is closed"));
      await end();
    },
  };
}
