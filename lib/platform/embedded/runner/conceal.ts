import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

/** Index, after the name, of the field of `/proc/self/stat` that gives the address of the initial environment. */
const ENV_START = 47;
const ENV_END = 48;

/**
 * Erases this process's initial environment, which may contain keys, from where its children could read it
 * (`/proc/PID/environ`). `process.env` does not change. Throws if the system does not permit it.
 */
export function concealEnvironment(): void {
  if (process.platform !== "linux" || !isMainThread) return;
  // Setting a variable copies it; the original text is no longer used.
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
