import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLog, temporaryFolder } from "./embedded/test-platform.ts";
import { recordDuration, recordValue, stopRecording } from "./high-water-marks.ts";
import { HIGH_WATER_MARKS_FILE, readHighWaterMarksFile, recordToFile } from "./high-water-marks-file.ts";
import type { Log } from "./log.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let warnings: string[];
const log: Log = { ...silentLog, warn: (message) => void warnings.push(message) };
const path = (): string => join(folder.path, HIGH_WATER_MARKS_FILE);
const keep = (everyMs = 60_000) => recordToFile({ dataDir: folder.path, log, everyMs });

beforeEach(async () => {
  warnings = [];
  folder = await temporaryFolder();
});
afterEach(async () => {
  stopRecording();
  await folder.remove();
});

describe("the file of high-water marks", () => {
  it("is written on close with access for its owner only, and the next server continues from it", async () => {
    expect(readHighWaterMarksFile(folder.path)).toBe("none");
    const first = keep();
    recordValue("itemBytes", 70_000);
    recordDuration("EmitEventFunction", 12.5);
    await first.close();
    const kept = readHighWaterMarksFile(folder.path);
    expect(kept).toMatchObject({ limits: { itemBytes: 70_000 }, handlers: { EmitEventFunction: 12.5 } });
    expect((await stat(path())).mode & 0o777).toBe(0o600);

    const second = keep();
    recordValue("itemBytes", 60_000);
    recordValue("itemDepth", 3);
    await second.close();
    expect(readHighWaterMarksFile(folder.path)).toMatchObject({
      since: (kept as { since: string }).since,
      limits: { itemBytes: 70_000, itemDepth: 3 },
      handlers: { EmitEventFunction: 12.5 },
    });
    expect(await readdir(folder.path)).toEqual([HIGH_WATER_MARKS_FILE]);
    expect(warnings).toEqual([]);
  });

  it("is written periodically while marks change", async () => {
    const keeper = keep(5);
    recordValue("busEntryBytes", 500_000);
    await expect
      .poll(() => readHighWaterMarksFile(folder.path))
      .toMatchObject({ limits: { busEntryBytes: 500_000 } });
    recordValue("busEntryBytes", 600_000);
    await expect
      .poll(() => readHighWaterMarksFile(folder.path))
      .toMatchObject({ limits: { busEntryBytes: 600_000 } });
    await keeper.close();
  });

  it("does not carry marks of one server over to another folder in the same process", async () => {
    const first = keep();
    recordValue("itemBytes", 70_000);
    await first.close();
    await rm(path());
    await keep().close();
    expect(readHighWaterMarksFile(folder.path)).toMatchObject({ limits: {}, handlers: {} });
  });

  it("keeps the marks that another process wrote meanwhile", async () => {
    const keeper = keep();
    recordValue("itemBytes", 1);
    const other = { form: 1, since: "2026-01-01T00:00:00.000Z", written: "2026-01-02T00:00:00.000Z" };
    await writeFile(
      path(),
      JSON.stringify({ ...other, limits: { itemBytes: 5, gone: 1 }, handlers: { A: 2 } }),
    );
    await keeper.close();
    expect(readHighWaterMarksFile(folder.path)).toMatchObject({
      since: other.since,
      limits: { itemBytes: 5 },
      handlers: { A: 2 },
    });
    expect(await readFile(path(), "utf8")).not.toContain("gone");
  });

  it.each([
    ["", "empty"],
    ["\u0000\u0000", "bytes"],
    ["[]", "a list"],
    ['{"form":2}', "another form"],
    ['{"form":1,"since":"x","written":"y","limits":{"itemBytes":"9"},"handlers":{}}', "of wrong values"],
  ])("begins anew, with a word in the log, where it is %j (%s)", async (text) => {
    await writeFile(path(), text);
    expect(readHighWaterMarksFile(folder.path)).toBe("unreadable");
    const keeper = keep();
    recordValue("itemBytes", 7);
    await keeper.close();
    expect(warnings).toEqual([expect.stringContaining(HIGH_WATER_MARKS_FILE)]);
    expect(readHighWaterMarksFile(folder.path)).toMatchObject({ limits: { itemBytes: 7 } });
  });

  it("logs once if it cannot be written, without further effect", async () => {
    await mkdir(path());
    const keeper = keep(5);
    recordValue("itemBytes", 7);
    await expect.poll(() => warnings).toContain(`${HIGH_WATER_MARKS_FILE} cannot be written`);
    recordValue("itemBytes", 8);
    await keeper.close();
    expect(warnings.filter((warning) => warning.includes("written"))).toHaveLength(1);
    expect(await readdir(folder.path)).toEqual([HIGH_WATER_MARKS_FILE]);
  });
});
