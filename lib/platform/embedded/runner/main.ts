/** The runner process: starts commands and scripts for the server, and ends them all when the server is gone. */
import { PLATFORM_FAULTS, PlatformFault } from "../../faults.ts";
import type { ScriptMessage, ScriptReply } from "../../scripts/script-messages.ts";
import type { ScriptPool } from "../../scripts/script-pool.ts";
import { Leftovers } from "./leftovers.ts";
import { Processes } from "./processes.ts";
import type { FromRunner, ToRunner, Work } from "./protocol.ts";

const [functionsModule = ""] = process.argv.slice(2);
const baseEnv: Record<string, string> = {};
for (const [name, value] of Object.entries(process.env)) {
  // Node adds variables of its own to what the server gave.
  if (value !== undefined && !name.startsWith("NODE_")) baseEnv[name] = value;
}
const leftovers = new Leftovers((count) => send({ kind: "left-over", count }));
const processes = new Processes(baseEnv, leftovers);
const underWay = new Map<number, AbortController>();
let pool: Promise<ScriptPool> | undefined;

function send(message: FromRunner): void {
  // The server may be gone: `disconnect` sees to the rest.
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

/** Loaded with the first script, so that a runner of commands alone stays small. */
function scripts(): Promise<ScriptPool> {
  pool ??= import("./scripts.ts").then(({ openPool }) => openPool(new URL(functionsModule), processes));
  return pool;
}

async function evaluate(request: ScriptMessage, signal: AbortSignal): Promise<ScriptReply> {
  const env = processes.environment(request.env);
  return (await scripts()).run({ ...request, env }, signal);
}

async function answer(message: Work, signal: AbortSignal): Promise<FromRunner> {
  const { id } = message;
  try {
    return message.kind === "command"
      ? { kind: "command-ended", id, outcome: await processes.run(message.request, signal) }
      : { kind: "script-ended", id, reply: await evaluate(message.request, signal) };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    if (!(error instanceof PlatformFault)) return { kind: "refused", id, code: "unavailable", detail: text };
    // The server puts the code's own words in front again.
    const detail = text.slice(PLATFORM_FAULTS[error.code].length).replace(/^: /, "");
    return { kind: "refused", id, code: error.code, detail };
  }
}

async function begin(message: Work): Promise<void> {
  const controller = new AbortController();
  if (message.aborted) controller.abort();
  underWay.set(message.id, controller);
  const reply = await answer(message, controller.signal);
  underWay.delete(message.id);
  send(reply);
}

async function endEverything(): Promise<void> {
  await processes.endAll();
  process.exit(0);
}

// Emitted as well when the server is killed without warning: its end of the channel closes.
process.once("disconnect", () => void endEverything());
process.on("message", (message: ToRunner) => {
  if (message.kind === "abort") underWay.get(message.id)?.abort();
  else if (message.kind === "sweep") void leftovers.end(new Set(message.tokens));
  else void begin(message);
});
// The server decides when its runner ends: a signal to all processes must not take the steps away from under it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
process.stderr.on("error", () => {});
send({ kind: "ready" });
