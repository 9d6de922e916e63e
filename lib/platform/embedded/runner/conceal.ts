import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

/** Fields of `/proc/self/stat` after the name: where the environment that the process was started with lies. */
const ENV_START = 47;
const ENV_END = 48;

/**
 * Wipes the environment that this process was started with from where its children could read it
 * (`/proc/PID/environ`): it may hold keys. `process.env` stays as it is. Throws where the system refuses.
 */
export function concealEnvironment(): void {
  if (process.platform !== "linux" || !isMainThread) return;
  // Set again, a variable is kept elsewhere; the old text is used no more.
  for (const [name, value] of Object.entries(process.env)) process.env[name] = value;
  const stat = readFileSync("/proc/self/stat", "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const start = Number(fields[ENV_START]);
  const length = Number(fields[ENV_END]) - start;
  if (!(start > 0 && length > 0)) return;
  const memory = openSync("/proc/self/mem", "r+");
  try {
    writeSync(memory, Buffer.alloc(length), 0, length, start);
  } finally {
    closeSync(memory);
  }
}
