import { open } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkReady } from "../../workflows/health/ready.ts";
import { PlatformFault } from "../faults.ts";
import type { Tables } from "../tables.ts";
import { storageHealth } from "./storage-health.ts";
import { Store } from "./store.ts";
import { temporaryFolder } from "./test-platform.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let logged: string[];
beforeEach(async () => {
  folder = await temporaryFolder();
  logged = [];
});
afterEach(() => folder.remove());

const openHealth = () => {
  const note = (message: string): void => void logged.push(message);
  return storageHealth(folder.path, { error: note, info: note });
};

describe("the health of the storage", () => {
  it("stays healthy without faults, and after errors that the storage did not cause", async () => {
    const health = openHealth();
    health.observe(new PlatformFault("unavailable", "the store is closed"));
    health.suspect(new Error("no such step"));
    expect(await health.check()).toBeUndefined();
    expect(logged).toEqual([]);
  });

  it("is faulty from the first fault on, logged once, until a file can be written again", async () => {
    const health = openHealth();
    for (let n = 0; n < 3; n += 1) health.observe(new PlatformFault("storage_full"));
    expect(await health.check()).toMatchObject({ code: "storage_full" });
    expect(logged).toHaveLength(1);
    await expect.poll(() => health.check()).toBeUndefined();
    expect(logged).toEqual([expect.any(String), "the storage is available again"]);
  });

  it("stays healthy if an error came from another disk", async () => {
    const health = openHealth();
    health.suspect(Object.assign(new Error("no space"), { code: "ENOSPC" }));
    expect(await health.check()).toBeUndefined();
    expect(logged).toEqual([]);
  });

  it("stays faulty once the database is found damaged, and readiness reports it", async () => {
    const path = join(folder.path, "weft.db");
    const health = openHealth();
    let store = new Store(path);
    store.define("CREATE TABLE t (n INTEGER PRIMARY KEY, text TEXT NOT NULL)");
    for (let n = 0; n < 100; n += 1)
      await store.write((tx) => tx.run("INSERT INTO t (text) VALUES (?)", "x".repeat(2000)));
    store.close();
    store = new Store(path, health.observe);
    const file = await open(path, "r+");
    await file.write(Buffer.alloc(4096 * 10, 0xff), 0, 4096 * 10, 4096 * 10);
    await file.close();
    expect(() => [...store.iterate("SELECT text FROM t")]).toThrow(/storage is damaged/);
    const tables = { get: async () => undefined } as unknown as Tables;
    const ready = checkReady({
      tables,
      queues: { depth: async () => ({}) } as never,
      queueNames: [],
      storage: health,
    });
    await expect(ready).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/storage is damaged/),
    });
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(await health.check()).toMatchObject({ code: "storage_damaged" });
    store.close();
  });
});
