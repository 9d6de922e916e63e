import fs, { mkdirSync, writeFileSync } from "node:fs";
import { appendFile, mkdir, mkdtemp, realpath, rm, unlink, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { type TestClock, type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { readLog, readRuns, storeWorkflow } from "../../testing/test-workflows.ts";
import { switchSchedule } from "../schedules/manage.ts";
import { scheduleKey, schedulesTable } from "../store/trigger-tables.ts";
import { openWatches, type Watches } from "./open-watches.ts";

let folder: string;
let inbox: string;
let test: TestDeps;
let watches: Watches | undefined;
let clock: TestClock;

/** Files have real times, so the service uses the real clock. */
const realClock = (): TestClock => {
  let ahead = 0;
  return {
    now: () => Date.now() + ahead,
    advance: (milliseconds) => {
      ahead += milliseconds;
    },
  };
};

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "weft-watches-")));
  inbox = join(folder, "workspaces", "inbox");
  await mkdir(inbox, { recursive: true });
  clock = realClock();
  await begin();
});
afterEach(async () => {
  await end();
  await rm(folder, { recursive: true, force: true });
});

async function begin(firesPerMinute = 100): Promise<void> {
  test = await testDeps({ folder, clock, firesPerMinute });
}
async function watch(): Promise<void> {
  watches = await openWatches(test.deps);
}
async function end(): Promise<void> {
  await watches?.close();
  watches = undefined;
  await test.close();
}
async function restart(between: () => Promise<unknown>): Promise<void> {
  await end();
  await between();
  await begin();
  await watch();
}

const watching = (path: string, more = ""): string =>
  `name: w\ntriggers: [{name: files, type: watch, path: "${path}", debounce: 20ms${more}}]\nsteps: [{name: a, type: bash, command: echo}]\n`;
const fires = async (): Promise<string[]> => {
  const { records } = await readLog(test.deps, { topic: "schedule.triggered" });
  return records
    .map(({ data }) => JSON.parse(data) as { path: string; change: string })
    .map(({ path, change }) => `${change} ${path.slice(inbox.length + 1)}`)
    .toSorted();
};
const until = (wanted: string[]) =>
  expect.poll(fires, { timeout: 10_000, interval: 20 }).toEqual(wanted.toSorted());
/** Events of one folder arrive in order, so earlier files have been seen once this one has. */
const settled = async (others: string[], name = "last.txt") => {
  await writeFile(join(inbox, name), name);
  await until([...others, `new ${name}`]);
};

describe("a watch trigger", () => {
  it("fires for each new and each changed file with its path, and not for existing files", async () => {
    await writeFile(join(inbox, "old.txt"), "old");
    await storeWorkflow(test.deps, watching("inbox/*.txt"));
    await watch();
    await writeFile(join(inbox, "no.json"), "{}");
    await writeFile(join(inbox, "a; id.txt"), "a");
    await until(["new a; id.txt"]);
    await appendFile(join(inbox, "old.txt"), "er");
    await until(["new a; id.txt", "changed old.txt"]);
    await settled(["new a; id.txt", "changed old.txt"]);
    await test.drain();
    const runs = await readRuns(test.deps);
    expect(runs).toHaveLength(3);
    expect(runs.at(-1)).toMatchObject({
      trigger_type: "watch",
      trigger_name: "files",
      target: join(inbox, "a; id.txt"),
      params: { target: join(inbox, "a; id.txt") },
    });
    expect(await test.deps.tables.get(schedulesTable, scheduleKey("sch_w:files"))).toMatchObject({
      run_count: 3,
      error: "",
    });
  });

  it("passes the path to the input", async () => {
    await storeWorkflow(test.deps, watching("inbox", ", input: {type: file, name: list}"));
    await watch();
    await writeFile(join(inbox, "a.txt"), "a");
    await until(["new a.txt"]);
    await test.drain();
    expect(await readRuns(test.deps)).toMatchObject([{ params: { list: join(inbox, "a.txt") } }]);
  });

  it("fires once for many changes within the debounce time", async () => {
    await storeWorkflow(test.deps, watching("inbox").replace("20ms", "400ms"));
    await watch();
    for (let n = 0; n < 5; n += 1) {
      await appendFile(join(inbox, "a.txt"), `${n}`);
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    await settled(["new a.txt"]);
  });

  it("detects a folder that is created later", async () => {
    await storeWorkflow(test.deps, watching("later/deep/*.txt"));
    await watch();
    const later = join(folder, "workspaces", "later", "deep");
    await mkdir(later, { recursive: true });
    await writeFile(join(later, "a.txt"), "a");
    await expect
      .poll(async () => (await readLog(test.deps, { topic: "schedule.triggered" })).total, {
        timeout: 10_000,
      })
      .toBe(1);
  });
});

describe("after a restart", () => {
  it("known files do not fire again, and files that changed meanwhile fire once", async () => {
    await writeFile(join(inbox, "old.txt"), "old");
    await writeFile(join(inbox, "gone.txt"), "gone");
    await storeWorkflow(test.deps, watching("inbox"));
    await watch();
    await writeFile(join(inbox, "a.txt"), "a");
    await until(["new a.txt"]);
    await restart(async () => undefined);
    await settled(["new a.txt"], "first.txt");
    const before = ["new a.txt", "new first.txt"];
    await restart(async () => {
      await appendFile(join(inbox, "old.txt"), "er");
      await writeFile(join(inbox, "b.txt"), "b");
      await unlink(join(inbox, "gone.txt"));
    });
    await until([...before, "changed old.txt", "new b.txt"]);
    await restart(async () => undefined);
    await settled([...before, "changed old.txt", "new b.txt"]);
  });

  it("the clock may be behind: files are compared by their own times", async () => {
    await storeWorkflow(test.deps, watching("inbox"));
    await watch();
    await writeFile(join(inbox, "a.txt"), "a");
    await until(["new a.txt"]);
    clock.advance(-3_600_000);
    await restart(async () => undefined);
    await settled(["new a.txt"]);
  });
});

/** Runs an action between the read of a folder and the start of its watch. */
function beforeWatching(folder: string, act: () => void): void {
  const { watch: original } = fs;
  const put = (changed: typeof fs.watch): void => {
    fs.watch = changed;
    syncBuiltinESMExports();
  };
  onTestFinished(() => put(original));
  put(((path: string, ...rest: []) => {
    if (path === folder) {
      put(original);
      act();
    }
    return original(path, ...rest);
  }) as typeof fs.watch);
}

describe("an entry created while the watch of its folder starts", () => {
  it("fires once if it is a file", async () => {
    await storeWorkflow(test.deps, watching("inbox"));
    await watch();
    const folder = join(inbox, "deep");
    beforeWatching(folder, () => writeFileSync(join(folder, "between.txt"), "b"));
    await mkdir(folder);
    await until(["new deep/between.txt"]);
    await writeFile(join(folder, "after.txt"), "a");
    await appendFile(join(folder, "between.txt"), "c");
    await until(["new deep/between.txt", "changed deep/between.txt", "new deep/after.txt"]);
  });

  it("fires once for a folder with files, and at the start", async () => {
    await storeWorkflow(test.deps, watching("inbox"));
    const folder = join(inbox, "of-the-start");
    await mkdir(folder);
    beforeWatching(folder, () => {
      mkdirSync(join(folder, "a/b"), { recursive: true });
      writeFileSync(join(folder, "a/b/between.txt"), "b");
    });
    await watch();
    await until(["new of-the-start/a/b/between.txt"]);
    await settled(["new of-the-start/a/b/between.txt"]);
  });
});

describe("a watch trigger that is switched", () => {
  it("off stops immediately, and on again treats existing files as old", async () => {
    await storeWorkflow(test.deps, watching("inbox"));
    await watch();
    await switchSchedule(test.deps, "sch_w:files", false);
    await watches?.look();
    await writeFile(join(inbox, "meanwhile.txt"), "m");
    await switchSchedule(test.deps, "sch_w:files", true);
    await watches?.look();
    await settled([]);
  });
});

describe("the watched path", () => {
  it.each(["/", "/etc/*", "../secrets.env"])(
    "must not be %s, and the schedule shows the reason",
    async (path) => {
      await storeWorkflow(test.deps, watching(path));
      await watch();
      expect(await test.deps.tables.get(schedulesTable, scheduleKey("sch_w:files"))).toMatchObject({
        error: expect.stringContaining("outside of the workspaces"),
      });
    },
  );

  it("is stopped after eight of its own runs, and the log has the reason", async () => {
    await storeWorkflow(test.deps, watching("inbox"));
    await watch();
    const wanted: string[] = [];
    for (let n = 0; n < 10; n += 1) {
      // Writes the file as a step of the run that its last change started would.
      await writeFile(join(inbox, "own.txt"), `${n}`);
      wanted.push(n === 0 ? "new own.txt" : "changed own.txt");
      await until(wanted);
      await test.drain(["bash"]);
    }
    const { records } = await readLog(test.deps, { topic: "schedule.triggered" });
    expect(records[0]).toMatchObject({ error: "event loop: more than 8 events triggered one another" });
    expect(records[1]).toMatchObject({ error: "" });
    expect(await readRuns(test.deps)).toHaveLength(9);
  });
});
