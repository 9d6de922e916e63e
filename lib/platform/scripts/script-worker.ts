/** A script thread: evaluates one script at a time, each run in its own VM. */
import { setPriority } from "node:os";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { Guest } from "./guest.ts";
import { type CallContext, Calls, loadCallables, Trace } from "./library-calls.ts";
import {
  type ExecResult,
  type FromThread,
  REPLY_CELL,
  type ScriptJob,
  STOP_CELL,
  type TaskResult,
  type ThreadData,
  WAITED_CELL,
  WAITS_CELL,
} from "./script-job.ts";
import type { ScriptReply } from "./script-messages.ts";

const data: ThreadData = workerData;
const cells = new Int32Array(data.cells);
const callables = await loadCallables(data.functionsModule);
/** Least recently used first. */
const guests = new Map<string, Guest>();
const calls = new Calls(callables);
let context: CallContext | undefined;
let deadline = Number.POSITIVE_INFINITY;
/** CPU time of this thread at which the code must stop, and the earliest time when it can reach that. */
let cpuEnd = Number.POSITIVE_INFINITY;
let cpuLook = Number.POSITIVE_INFINITY;

function send(message: FromThread): void {
  parentPort?.postMessage(message);
}

function stop(): "timeout" | "cpu" | "aborted" | undefined {
  if (Atomics.load(cells, STOP_CELL) !== 0) return "aborted";
  const now = performance.now();
  if (now > deadline) return "timeout";
  if (now <= cpuLook) return undefined;
  const left = cpuEnd - cpuTime();
  if (left <= 0) return "cpu";
  cpuLook = now + left;
  return undefined;
}

/** CPU time of this thread, in milliseconds. */
function cpuTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Waits for the host, and marks the wait for the pool. */
function waiting<Result>(wait: () => Result): Result {
  const began = performance.now();
  Atomics.store(cells, WAITS_CELL, 1);
  try {
    return wait();
  } finally {
    Atomics.add(cells, WAITED_CELL, Math.round(performance.now() - began));
    Atomics.store(cells, WAITS_CELL, 0);
  }
}

async function guestOf(isolate: string): Promise<Guest> {
  const kept = guests.get(isolate);
  guests.delete(isolate);
  const guest =
    kept ??
    (await Guest.create({
      wasm: data.wasm,
      namesIn: (code) => calls.namesIn(code),
      call: (name, args) => (context === undefined ? "eno script runs" : calls.answer(name, args, context)),
      stop,
    }));
  guests.set(isolate, guest);
  for (const [oldest, old] of guests) {
    if (guests.size <= data.keptGuests) break;
    old.dispose();
    guests.delete(oldest);
  }
  return guest;
}

async function prepare(code: string): Promise<void> {
  for (const name of calls.namesIn(code)) await callables.get(name)?.prepare?.();
}

function exec(job: ScriptJob, command: string, env: Readonly<Record<string, string>>): ExecResult {
  if (job.commands === false) throw refusal("commands are not available here");
  if (stop() !== undefined) return { failure: "the script exceeded its time limit", stdout: "" };
  const request = { command, cwd: job.cwd, env: { ...job.env, ...env }, timeoutMs: timeLeft() };
  return answerTo<ExecResult>({ kind: "exec", request });
}

/** An error that functions must not convert into a value. */
function refusal(message: string): Error {
  const error = new Error(message);
  error.name = "ScriptError";
  return error;
}

/** Throws the error of the task or host call. */
function waitFor(kind: "task" | "ask", name: string, input: unknown): unknown {
  if (stop() !== undefined) throw new Error("the script exceeded its time limit");
  const result = answerTo<TaskResult>({ kind, request: { name, input, timeoutMs: timeLeft() } });
  if (!result.ok) throw new Error(result.message);
  return result.value;
}

/** Milliseconds until the deadline; 0 if there is none. */
function timeLeft(): number {
  return deadline === Number.POSITIVE_INFINITY ? 0 : Math.max(1, Math.ceil(deadline - performance.now()));
}

/** Sends a request to the pool and waits for its result. */
function answerTo<Answer>(call: FromThread): Answer {
  const before = Atomics.load(cells, REPLY_CELL);
  send(call);
  return waiting(() => {
    for (;;) {
      const answer: { message: Answer } | undefined = receiveMessageOnPort(data.execPort);
      if (answer !== undefined) return answer.message;
      // The pool also responds for aborted commands, once they have ended.
      Atomics.wait(cells, REPLY_CELL, before, 1_000);
    }
  });
}

function sleep(milliseconds: number): void {
  const before = Atomics.load(cells, REPLY_CELL);
  const left = Math.min(milliseconds, deadline - performance.now());
  if (left > 0 && stop() === undefined) waiting(() => Atomics.wait(cells, REPLY_CELL, before, left));
}

async function evaluate(job: ScriptJob): Promise<ScriptReply> {
  const trace = new Trace();
  await prepare(job.code);
  const guest = await guestOf(job.isolate);
  context = {
    cwd: job.cwd,
    ...(job.folders === undefined ? {} : { folders: job.folders }),
    ...(job.network === undefined ? {} : { network: job.network }),
    env: job.env,
    token: job.token,
    emitEvent: (event) => {
      if (job.commands === false) throw refusal("only runs can emit events");
      trace.emitEvent(event);
    },
    log: (level, message) => trace.log(level, message),
    skip: (message) => {
      trace.skipped ??= message;
    },
    exec: (command, env = {}) => exec(job, command, env),
    sleep,
    await: (task, input) => waitFor("task", task, input),
    ask: (what, input) => waitFor("ask", what, input),
  };
  const began = performance.now();
  deadline = job.timeoutMs > 0 ? began + job.timeoutMs : Number.POSITIVE_INFINITY;
  cpuEnd = job.cpuMs === undefined ? Number.POSITIVE_INFINITY : cpuTime() + job.cpuMs;
  cpuLook = began + (job.cpuMs ?? Number.POSITIVE_INFINITY);
  calls.forget();
  const verdict = guest.evaluate(job.variables, job.code);
  deadline = Number.POSITIVE_INFINITY;
  cpuLook = Number.POSITIVE_INFINITY;
  context = undefined;
  if (!guest.usable) {
    guests.delete(job.isolate);
    guest.dispose();
  }
  const skipped = trace.skipped === undefined ? {} : { skipped: trace.skipped };
  return { ...verdict, ...skipped, events: trace.events, logs: trace.logs };
}

function failed(error: unknown): ScriptReply {
  const message = error instanceof Error ? error.message : String(error);
  return { ok: false, reason: "failed", message, events: [], logs: [] };
}

try {
  // On Linux the priority is per thread: it gets the CPU time that the service and the commands leave.
  if (process.platform === "linux") setPriority(data.niceness);
} catch {
  // If the system rejects it, scripts compete with equal priority.
}
parentPort?.on("message", (job: ScriptJob) => {
  void evaluate(job)
    .catch(failed)
    .then((reply) => send({ kind: "done", reply }));
});
send({ kind: "ready" });
