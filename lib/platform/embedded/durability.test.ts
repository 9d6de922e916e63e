import { spawn } from "node:child_process";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CONTRACT_RESOURCES, ITEMS } from "../contract/resources.ts";
import type { Resources } from "../resources.ts";
import type { EmbeddedPlatform } from "./platform.ts";
import { openForTest, temporaryFolder } from "./test-platform.ts";

const CHILD = fileURLToPath(new URL("durability-child.ts", import.meta.url));

describe("the embedded platform across restarts", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let platform: EmbeddedPlatform | undefined;
  const open = async (resources: Resources = CONTRACT_RESOURCES): Promise<EmbeddedPlatform["ports"]> => {
    await platform?.close();
    platform = await openForTest(folder.path, resources);
    return platform.ports;
  };
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(async () => {
    await platform?.close();
    platform = undefined;
    await folder.remove();
  });

  /** Runs the child until it has acknowledged `count` writes, kills it and returns all acknowledged numbers. */
  const killAfter = async (count: number, first: number): Promise<number[]> => {
    const child = spawn(process.execPath, [CHILD, folder.path, String(first)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const acknowledged: number[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      acknowledged.push(Number(line));
      if (acknowledged.length === count) child.kill("SIGKILL");
    }
    return acknowledged;
  };

  it("loses no acknowledged write and no message after kill -9", async () => {
    const acknowledged: number[] = [];
    for (const round of [0, 1, 2]) acknowledged.push(...(await killAfter(300, round * 100_000)));
    const { tables, queues } = await open();
    const items = await tables.batchGet(
      ITEMS,
      acknowledged.map((n) => ({ pk: "durable", sk: String(n).padStart(9, "0") })),
    );
    expect(acknowledged.length).toBeGreaterThanOrEqual(900);
    expect(items).toHaveLength(acknowledged.length);
    const written = (await tables.query(ITEMS, { pk: "durable" })).items.length;
    expect((await queues.depth("contract-events")).visible).toBe(written);
    expect((await queues.depth("contract-fifo")).visible).toBe(written);
  });

  it("rejects a second process in the data folder, naming the first, and admits one after a close", async () => {
    await open();
    const second = openForTest(folder.path, CONTRACT_RESOURCES);
    await expect(second).rejects.toMatchObject({
      code: "data_folder_in_use",
      message: expect.stringContaining(`process ${process.pid}`),
    });
    await open();
    expect((await stat(join(folder.path, "lock.db"))).mode & 0o777).toBe(0o600);
  });

  it("creates the data folder with access for its owner only", async () => {
    const path = join(folder.path, "new", "data");
    const made = await openForTest(path, CONTRACT_RESOURCES);
    await made.close();
    expect((await stat(path)).mode & 0o777).toBe(0o700);
  });

  it("rejects a path that cannot be a data folder", async () => {
    await writeFile(join(folder.path, "file"), "");
    await expect(openForTest(join(folder.path, "file"), CONTRACT_RESOURCES)).rejects.toThrow(/file/);
  });

  it("makes messages in flight visible again after a restart, with their count, and rejects old receipts", async () => {
    const before = await open();
    await before.queues.send("contract-poison", [{ body: "in flight" }]);
    const options = { max: 1, visibilitySeconds: 3600, waitSeconds: 1 };
    const [first] = await before.queues.receive("contract-poison", options);
    const after = await open();
    const [second] = await after.queues.receive("contract-poison", options);
    expect(second).toMatchObject({ id: first?.id, receiveCount: 1, interrupted: 1 });
    await after.queues.delete("contract-poison", [first?.receipt ?? ""]);
    expect(await after.queues.depth("contract-poison")).toMatchObject({ inFlight: 1 });
  });

  it("keeps deduplication ids, delays and timers", async () => {
    const message = { body: "x", groupId: "g", deduplicationId: "d" };
    const before = await open();
    await before.queues.send("contract-fifo", [message]);
    await before.queues.send("contract-standard", [{ body: "delayed", delaySeconds: 900 }]);
    await before.timers.set("t", Date.now() + 300, "contract-standard", { body: "timer" });
    const after = await open();
    await after.queues.send("contract-fifo", [message]);
    expect(await after.queues.depth("contract-fifo")).toMatchObject({ visible: 1 });
    expect(await after.queues.depth("contract-standard")).toMatchObject({ delayed: 1 });
    const timer = await after.queues.receive("contract-standard", {
      max: 1,
      visibilitySeconds: 9,
      waitSeconds: 5,
    });
    expect(timer).toMatchObject([{ body: "timer" }]);
  });

  it("fills an index that was added after the items", async () => {
    const bare = { ...CONTRACT_RESOURCES, tables: [{ name: ITEMS.name, indexes: {} }] };
    const before = await open(bare);
    await before.tables.write([
      { op: "put", table: ITEMS, item: { pk: "p", sk: "1", status: "s", at: "2" } },
      { op: "put", table: ITEMS, item: { pk: "p", sk: "2", status: "s", at: "1" } },
      { op: "put", table: ITEMS, item: { pk: "p", sk: "3", at: "1" } },
    ]);
    const after = await open();
    const { items } = await after.tables.query(ITEMS, { index: "byStatus", pk: "s" });
    expect(items.map(({ sk }) => sk)).toEqual(["2", "1"]);
  });

  it("delivers nothing for a removed rule, and keeps data that is not in the resources", async () => {
    const before = await open();
    await before.queues.send("contract-standard", [{ body: "kept" }]);
    await before.timers.set("t", Date.now() - 1, "contract-poison", { body: "kept" });
    const without = (names: readonly string[]): Resources => ({
      ...CONTRACT_RESOURCES,
      queues: CONTRACT_RESOURCES.queues.filter(({ name }) => !names.includes(name)),
      rules: CONTRACT_RESOURCES.rules.filter(({ name }) => name !== "contract-events"),
    });
    const fewer = await open(without(["contract-standard"]));
    await fewer.bus.publish([{ source: "weft.events", detailType: "x", detail: {} }]);
    expect(await fewer.queues.depth("contract-events")).toMatchObject({ visible: 0 });
    expect(await fewer.queues.depth("contract-everything")).toMatchObject({ visible: 1 });
    await expect(fewer.queues.send("contract-standard", [{ body: "x" }])).rejects.toThrow(/unknown queue/);
    const all = await open();
    expect(await all.queues.depth("contract-standard")).toMatchObject({ visible: 1 });
  });
});
