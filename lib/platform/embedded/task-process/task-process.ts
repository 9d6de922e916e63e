import { type ChildProcess, fork } from "node:child_process";
import { createInterface } from "node:readline";
import { PlatformFault } from "../../faults.ts";
import type { Log } from "../../log.ts";
import { BACKGROUND, type FromTaskProcess, type TaskResult, type ToTaskProcess } from "./protocol.ts";

/** Loading takes some seconds on a busy machine. */
const READY_LIMIT_MS = 30_000;
/** An idle process is ended because it uses some 180 MB. */
const IDLE_MS = 3 * 60_000;
const CLOSE_LIMIT_MS = 3_000;
const WAITING_MAX = 64;
/** Exit code and signal of a process whose heap is full. */
const HEAP_FULL = { code: 134, signal: "SIGABRT" };
/** Space for new objects: with Node's default, garbage collection takes a tenth more CPU. */
const NEW_SPACE_MB = 32;
const ENV_NAMES = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR"] as const;

/** What callers choose; the limits have defaults. */
export interface TaskLimits {
  readonly log: Log;
  /** Time limit of one task, milliseconds. */
  readonly limitMs?: number;
  /** Time without a task after which the process is ended, milliseconds. */
  readonly idleMs?: number;
}

export interface TaskProcessOptions extends TaskLimits {
  /** In messages, such as `converter`. */
  readonly name: string;
  /** The program. It answers the messages of protocol.ts. */
  readonly program: URL;
  readonly limitMs: number;
  /** Heap limit in MB; exceeding it ends the process. */
  readonly heapMb: number;
  /** Whether requests of the server run before this process. */
  readonly isBackground?: boolean;
  /** In addition to the names in ENV_NAMES. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface TaskProcess<Task, Value> {
  /** 0 before the first task, and while no process runs. */
  readonly pid: number;
  /** Throws PlatformFault `unavailable` if the process cannot run, and `throttled` if too many tasks wait. */
  run(task: Task): Promise<TaskResult<Value>>;
  /** Ends the process; pending tasks are rejected. */
  close(): Promise<void>;
}

interface Job<Task, Value> {
  readonly task: Task;
  resolve(result: TaskResult<Value>): void;
  reject(error: unknown): void;
}

interface Running {
  readonly child: ChildProcess;
  readonly ready: Promise<void>;
  readonly gone: Promise<{ readonly code: number | null; readonly signal: string | null }>;
}

/**
 * Runs tasks in a separate process, one at a time. The first task starts it, some idle minutes end it, and a task that
 * exceeds its time or memory limit restarts it.
 */
export function taskProcess<Task, Value>(options: TaskProcessOptions): TaskProcess<Task, Value> {
  const { name, log, program, limitMs, heapMb, idleMs = IDLE_MS } = options;
  const waiting: Job<Task, Value>[] = [];
  let running: Running | undefined;
  let idle: NodeJS.Timeout | undefined;
  let isBusy = false;
  let isClosed = false;
  let lastId = 0;

  const start = (): Running => {
    const env = Object.fromEntries(
      ENV_NAMES.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
    );
    const child = fork(program, options.isBackground === true ? [BACKGROUND] : [], {
      env: { ...env, ...options.env },
      execArgv: [`--max-old-space-size=${heapMb}`, `--max-semi-space-size=${NEW_SPACE_MB}`],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    if (child.stderr !== null)
      createInterface({ input: child.stderr }).on("line", (line) => log.debug(`${name} process`, { line }));
    const gone = new Promise<Awaited<Running["gone"]>>((resolve) => {
      child.once("exit", (code, signal) => resolve({ code, signal }));
      child.on("error", () => {
        if (child.pid === undefined) resolve({ code: null, signal: null });
      });
    });
    const ready = new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => child.kill("SIGKILL"), READY_LIMIT_MS);
      const isReady = (message: FromTaskProcess<Value>): void => {
        if (message.kind !== "ready") return;
        clearTimeout(late);
        child.off("message", isReady);
        resolve();
      };
      child.on("message", isReady);
      void gone.then((how) => {
        clearTimeout(late);
        reject(new PlatformFault("unavailable", `the ${name} did not start: ${JSON.stringify(how)}`));
      });
    });
    ready.catch(() => undefined);
    const started = { child, ready, gone };
    void gone.then(() => {
      if (running === started) running = undefined;
    });
    return started;
  };

  const run = async ({ child, ready, gone }: Running, task: Task): Promise<TaskResult<Value>> => {
    await ready;
    lastId += 1;
    const id = lastId;
    let isLate = false;
    const late = setTimeout(() => {
      isLate = true;
      child.kill("SIGKILL");
    }, limitMs);
    const { promise, resolve } = Promise.withResolvers<TaskResult<Value>>();
    const answered = (message: FromTaskProcess<Value>): void => {
      if (message.kind === "ready" || message.id !== id) return;
      if (message.kind === "refused") log.info(`a task of the ${name} failed`, { why: message.why });
      resolve(
        message.kind === "done"
          ? { ok: true, value: message.value }
          : { ok: false, reason: "refused", message: message.message },
      );
    };
    child.on("message", answered);
    try {
      child.send({ id, task } satisfies ToTaskProcess<Task>, () => undefined);
      const ended = gone.then(({ code, signal }): TaskResult<Value> => {
        if (isLate) return { ok: false, reason: "timeout" };
        if (code === HEAP_FULL.code || signal === HEAP_FULL.signal) return { ok: false, reason: "memory" };
        throw new PlatformFault("unavailable", `the ${name} process ended`);
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
        job.resolve(await run(running, job.task));
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
    run: (task) =>
      new Promise((resolve, reject) => {
        if (isClosed) throw new PlatformFault("unavailable", `the ${name} is closed`);
        if (waiting.length >= WAITING_MAX)
          throw new PlatformFault("throttled", `too many tasks of the ${name} are waiting`);
        waiting.push({ task, resolve, reject });
        void serve();
      }),
    close: async () => {
      isClosed = true;
      for (const { reject } of waiting.splice(0))
        reject(new PlatformFault("unavailable", `the ${name} is closed`));
      await end();
    },
  };
}
