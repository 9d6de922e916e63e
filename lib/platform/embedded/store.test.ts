import { stat } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Store } from "./store.ts";
import { temporaryFolder } from "./test-platform.ts";
import type { Tx } from "./transaction.ts";

describe("the store", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let store: Store;
  beforeEach(async () => {
    folder = await temporaryFolder();
    store = new Store(join(folder.path, "weft.db"));
    store.define("CREATE TABLE t (n INTEGER PRIMARY KEY, text TEXT NOT NULL)");
  });
  afterEach(async () => {
    store.close();
    await folder.remove();
  });
  const insert =
    (n: number, text = "x") =>
    (tx: Tx): number =>
      tx.run("INSERT INTO t (n, text) VALUES (?, ?)", n, text);
  const numbers = (): unknown[] => store.all("SELECT n FROM t ORDER BY n").map((row) => row.n);

  it("creates its files with access for their owner only", async () => {
    await store.write(insert(1));
    for (const name of ["weft.db", "weft.db-wal"]) {
      expect((await stat(join(folder.path, name))).mode & 0o777).toBe(0o600);
    }
  });

  it("commits all writes of one turn together, before any of them resolves", async () => {
    const seen: unknown[] = [];
    const writes = [1, 2, 3].map((n) => store.write(insert(n)).then(() => seen.push(numbers())));
    expect(numbers()).toEqual([]);
    await Promise.all(writes);
    expect(seen).toEqual([
      [1, 2, 3],
      [1, 2, 3],
      [1, 2, 3],
    ]);
  });

  it("shows a write the earlier ones of its group", async () => {
    void store.write(insert(1));
    expect(await store.write((tx) => tx.get("SELECT count(*) AS n FROM t")?.n)).toBe(1);
  });

  it("runs commit effects at once, and durable effects after the sync", async () => {
    const seen: string[] = [];
    const writes = [1, 2, 3, 4].map((n) =>
      store
        .write((tx) => {
          insert(n)(tx);
          tx.afterCommit(() => seen.push("committed"));
          tx.onceDurable(() => seen.push("durable"));
        })
        .then(() => seen.push("settled")),
    );
    await store.write(insert(5)).then(() => seen.push("another settled"));
    expect(seen).toEqual([...Array(4).fill("committed"), "another settled"]);
    await Promise.all(writes);
    expect(seen.slice(5, 9)).toEqual(Array(4).fill("durable"));
    expect(seen.slice(9)).toEqual(Array(4).fill("settled"));
  });

  it("resolves `durable` once the earlier commits are on disk, however much is written meanwhile", async () => {
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 50 }, async (_, n) => {
        await store.write(insert(n));
        await store.durable();
        order.push(n);
      }),
    );
    expect(order.toSorted((a, b) => a - b)).toEqual(numbers());
    await store.durable();
    void store.write(insert(50));
    store.close();
    await store.durable();
    store = new Store(join(folder.path, "weft.db"));
    expect(numbers()).toHaveLength(51);
  });

  it("rolls back a write that fails half way, and still commits the others of its group", async () => {
    const effects: string[] = [];
    const results = await Promise.allSettled([
      store.write((tx) => {
        insert(1)(tx);
        tx.afterCommit(() => effects.push("first"));
      }),
      store.write(() => {
        throw new Error("refused before it wrote");
      }),
      store.write((tx) => {
        insert(2)(tx);
        tx.afterCommit(() => effects.push("never"));
        throw new Error("failed after it wrote");
      }),
      store.write(insert(3)),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
    expect(numbers()).toEqual([1, 3]);
    expect(effects).toEqual(["first"]);
  });

  it("rejects a whole group when the disk is full, changes nothing, and continues once there is space", async () => {
    const pages = Number(store.get("PRAGMA page_count")?.page_count);
    store.define(`PRAGMA max_page_count = ${pages + 2}`);
    const effects: string[] = [];
    const results = await Promise.allSettled([
      store.write((tx) => {
        insert(1)(tx);
        tx.afterCommit(() => effects.push("small"));
      }),
      store.write(insert(2, "x".repeat(100_000))),
    ]);
    expect(results).toMatchObject([
      { status: "rejected", reason: { name: "PlatformFault", code: "storage_full" } },
      { status: "rejected", reason: { name: "PlatformFault", code: "storage_full" } },
    ]);
    expect(effects).toEqual([]);
    expect(numbers()).toEqual([]);
    store.define("PRAGMA max_page_count = 100000");
    await store.write(insert(2, "x".repeat(100_000)));
    expect(numbers()).toEqual([2]);
  });

  it("reports that the storage cannot be written", async () => {
    store.define("PRAGMA query_only = 1");
    await expect(store.write(insert(1))).rejects.toMatchObject({ code: "storage_read_only" });
    store.define("PRAGMA query_only = 0");
    await store.write(insert(1));
    expect(numbers()).toEqual([1]);
  });

  it("commits pending writes when it is closed, and rejects later ones", async () => {
    const waiting = Array.from({ length: 1200 }, (_, n) => store.write(insert(n)));
    store.close();
    await Promise.all(waiting);
    await expect(store.write(insert(5000))).rejects.toMatchObject({ code: "unavailable" });
    store = new Store(join(folder.path, "weft.db"));
    expect(numbers()).toHaveLength(1200);
  });

  it("yields to the event loop between large groups", async () => {
    let turns = 0;
    let done = false;
    const turn = (): void => {
      turns += 1;
      if (!done) setImmediate(turn);
    };
    setImmediate(turn);
    await Promise.all(Array.from({ length: 2500 }, (_, n) => store.write(insert(n))));
    done = true;
    expect(turns).toBeGreaterThanOrEqual(4);
    expect(numbers()).toHaveLength(2500);
  });
});
