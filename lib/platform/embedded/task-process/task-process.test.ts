import { readdirSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { constants, getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import type { Log } from "../../log.ts";
import { taskProcess } from "./task-process.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };
const SERVE = new URL("./serve-tasks.ts", import.meta.url).href;

it.skipIf(process.platform !== "linux")(
  "every thread of a background process gives way to the server",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "weft-task-process-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const program = join(folder, "main.mjs");
    await writeFile(
      program,
      `import { serveTasks } from ${JSON.stringify(SERVE)};\nawait serveTasks(async () => async (task) => task);\n`,
    );
    const options = {
      name: "test",
      log: silent,
      program: pathToFileURL(program),
      limitMs: 20_000,
      heapMb: 64,
    };
    const priorities = async (isBackground: boolean): Promise<readonly number[]> => {
      const process_ = taskProcess<string, string>({ ...options, isBackground });
      onTestFinished(() => process_.close());
      expect(await process_.run("a task")).toEqual({ ok: true, value: "a task" });
      const threads = readdirSync(`/proc/${process_.pid}/task`).map(Number);
      return [...new Set(threads.map((thread) => getPriority(thread)))];
    };
    expect(await priorities(true)).toEqual([constants.priority.PRIORITY_BELOW_NORMAL]);
    expect(await priorities(false)).toEqual([getPriority()]);
  },
  60_000,
);
