import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callables, type FunctionName, tasks } from "./library.ts";
import type { FunctionContext, GeneratedEvent } from "./library-types.ts";

export interface TestContext extends FunctionContext {
  readonly events: GeneratedEvent[];
  readonly logs: string[];
  readonly slept: number[];
  /** Responses to host calls and tasks, in order. */
  readonly replies: unknown[];
  /** The calls that were made, in order. */
  readonly questions: { readonly what: string; readonly input: unknown }[];
  /** Calls a function as a script does: values pass through JSON. */
  call(name: FunctionName, ...args: unknown[]): unknown;
  /** As `call`, for functions that load dependencies first or wait for tasks. */
  prepared(name: FunctionName, ...args: unknown[]): Promise<unknown>;
  remove(): void;
}

type TaskAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

/** Tests do not block: the call is repeated after the task has finished. */
class Asked extends Error {
  override readonly name = "ScriptError";
  readonly task: string;
  readonly input: unknown;
  readonly key: string;
  constructor(task: string, input: unknown, key: string) {
    super(`${task} is not done yet`);
    this.task = task;
    this.input = input;
    this.key = key;
  }
}

async function settle({ task, input }: Asked): Promise<TaskAnswer> {
  try {
    return { ok: true, value: await tasks.get(task)?.(input, new AbortController().signal) };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

/** A context whose workspace is a new folder and whose commands run synchronously. */
export function testContext(env: Readonly<Record<string, string>> = {}): TestContext {
  const cwd = mkdtempSync(join(tmpdir(), "weft-functions-"));
  const events: GeneratedEvent[] = [];
  const logs: string[] = [];
  const slept: number[] = [];
  const replies: unknown[] = [];
  const questions: { what: string; input: unknown }[] = [];
  const answers = new Map<string, TaskAnswer>();
  const call: TestContext["call"] = (name, ...args) =>
    JSON.parse(JSON.stringify(callables.get(name)?.run(JSON.parse(JSON.stringify(args)), context) ?? null));
  const context: TestContext = {
    cwd,
    env: { PATH: process.env.PATH ?? "", ...env },
    token: "step",
    events,
    logs,
    slept,
    replies,
    questions,
    ask: (what, input) => {
      questions.push({ what, input });
      const reply = replies.shift();
      if (reply === undefined) throw new Error("nobody answers");
      return reply;
    },
    emitEvent: (event) => void events.push(event),
    log: (level, message) => void logs.push(`${level} ${message}`),
    skip: (message) => void logs.push(`skip ${message}`),
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
    await: (task, input) => {
      const key = JSON.stringify([task, input]);
      const done = answers.get(key);
      if (done === undefined) throw new Asked(task, input, key);
      answers.delete(key);
      if (!done.ok) throw new Error(done.message);
      return done.value;
    },
    prepared: async (name, ...args) => {
      await callables.get(name)?.prepare?.();
      for (;;) {
        try {
          return call(name, ...args);
        } catch (error) {
          if (!(error instanceof Asked)) throw error;
          answers.set(error.key, await settle(error));
        }
      }
    },
    remove: () => rmSync(cwd, { recursive: true, force: true }),
  };
  return context;
}
