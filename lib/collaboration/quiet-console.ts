import { AsyncLocalStorage } from "node:async_hooks";
import type { Log } from "../platform/log.ts";

const quiet = new AsyncLocalStorage<Log>();
let isInstalled = false;

/**
 * Calls a function whose console messages go to the log at level debug. Hocuspocus writes every error that a hook
 * throws to the console, also with `quiet`, and clients can cause as many as they like.
 */
export function withQuietConsole<Result>(log: Log, call: () => Result): Result {
  install();
  return quiet.run(log, call);
}

function install(): void {
  if (isInstalled) return;
  isInstalled = true;
  for (const name of ["error", "warn"] as const) {
    // biome-ignore lint/suspicious/noConsole: it is replaced, not used
    const original = console[name];
    console[name] = (...values: unknown[]) => {
      const log = quiet.getStore();
      if (log === undefined) original.apply(console, values);
      else log.debug("collaboration", { message: values.map(textOf).join(" ") });
    };
  }
}

const TEXT_MAX = 500;

const textOf = (value: unknown): string =>
  (value instanceof Error ? value.message : String(value)).slice(0, TEXT_MAX);
