/** The process of scripts: evaluates them for the server, and ends them and their commands when the server is gone. */
import { PLATFORM_FAULTS, PlatformFault } from "../../faults.ts";
import type { TaskResult } from "../../scripts/script-job.ts";
import type { ScriptMessage } from "../../scripts/script-messages.ts";
import type { ScriptPool } from "../../scripts/script-pool.ts";
import type { Ask } from "../../scripts.ts";
import { Leftovers } from "./leftovers.ts";
import { Processes } from "./processes.ts";
import type { FromRunner, ToRunner } from "./protocol.ts";
import { openPool } from "./scripts.ts";

const [functionsModule = ""] = process.argv.slice(2);
const baseEnv: Record<string, string> = {};
for (const [name, value] of Object.entries(process.env)) {
  // Node adds variables of its own to what the server gave.
  if (value !== undefined && !name.startsWith("NODE_")) baseEnv[name] = value;
}
const processes = new Processes(new Leftovers((count) => send({ kind: "left-over", count })));
const underWay = new Map<number, AbortController>();
/** What scripts have asked the server, and was not answered yet, by its number. */
const questions = new Map<number, (result: TaskResult) => void>();
let lastQuestion = 0;
let pool: Promise<ScriptPool> | undefined;

function send(message: FromRunner): void {
  // The server may be gone: `disconnect` sees to the rest.
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

function askServer(id: number): Ask {
  return async (what, input, signal) => {
    lastQuestion += 1;
    const question = lastQuestion;
    const forget = (): void => void questions.delete(question);
    signal.addEventListener("abort", forget, { once: true });
    const result = await new Promise<TaskResult>((resolve) => {
      questions.set(question, resolve);
      send({ kind: "ask", id, question, what, input });
    });
    signal.removeEventListener("abort", forget);
    forget();
    if (!result.ok) throw new Error(result.message);
    return result.value;
  };
}

async function answer(id: number, request: ScriptMessage, signal: AbortSignal): Promise<FromRunner> {
  try {
    pool ??= openPool(new URL(functionsModule), processes);
    const env = { ...baseEnv, ...request.env };
    return {
      kind: "script-ended",
      id,
      reply: await (await pool).run({ ...request, env }, signal, askServer(id)),
    };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    if (!(error instanceof PlatformFault)) return { kind: "refused", id, code: "unavailable", detail: text };
    // The server puts the code's own words in front again.
    const detail = text.slice(PLATFORM_FAULTS[error.code].length).replace(/^: /, "");
    return { kind: "refused", id, code: error.code, detail };
  }
}

async function begin({ id, request, aborted }: Extract<ToRunner, { kind: "script" }>): Promise<void> {
  const controller = new AbortController();
  if (aborted) controller.abort();
  underWay.set(id, controller);
  const reply = await answer(id, request, controller.signal);
  underWay.delete(id);
  send(reply);
}

async function endEverything(): Promise<void> {
  await processes.endAll();
  process.exit(0);
}

// Emitted as well when the server is killed without warning: its end of the channel closes.
process.once("disconnect", () => void endEverything());
process.on("message", (message: ToRunner) => {
  if (message.kind === "answer") questions.get(message.question)?.(message.result);
  else if (message.kind === "abort") underWay.get(message.id)?.abort();
  else void begin(message);
});
// The server decides when this process ends: a signal to all processes must not take the scripts away from under it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
process.stderr.on("error", () => {});
send({ kind: "ready" });
