import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callables, type FunctionName } from "./library.ts";
import type { FunctionContext, GeneratedEvent } from "./library-types.ts";

export interface TestContext extends FunctionContext {
  readonly events: GeneratedEvent[];
  readonly logs: string[];
  readonly slept: number[];
  /** Calls a function as a script would: values go through JSON. */
  call(name: FunctionName, ...args: unknown[]): unknown;
  /** As `call`, for functions that load something first. */
  prepared(name: FunctionName, ...args: unknown[]): Promise<unknown>;
  remove(): void;
}

/** A context whose workspace is a fresh folder, with commands run on the spot. */
export function testContext(env: Readonly<Record<string, string>> = {}): TestContext {
  const cwd = mkdtempSync(join(tmpdir(), "weft-functions-"));
  const events: GeneratedEvent[] = [];
  const logs: string[] = [];
  const slept: number[] = [];
  const call: TestContext["call"] = (name, ...args) =>
    JSON.parse(JSON.stringify(callables.get(name)?.run(JSON.parse(JSON.stringify(args)), context) ?? null));
  const context: TestContext = {
    cwd,
    env: { PATH: process.env.PATH ?? "", ...env },
    token: "step",
    events,
    logs,
    slept,
    emitEvent: (event) => void events.push(event),
    log: (level, message) => void logs.push(`${level} ${message}`),
    exec: (command, more = {}) => {
      const done = spawnSync("bash", ["-c", command], {
        cwd,
        env: { ...context.env, ...more },
        encoding: "utf8",
      });
      return done.status === 0
        ? { stdout: done.stdout }
        : { stdout: done.stdout, failure: `exit code ${done.status}` };
    },
    sleep: (milliseconds) => void slept.push(milliseconds),
    call,
    prepared: async (name, ...args) => {
      await callables.get(name)?.prepare?.();
      return call(name, ...args);
    },
    remove: () => rmSync(cwd, { recursive: true, force: true }),
  };
  return context;
}
