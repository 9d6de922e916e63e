import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Condition, Write } from "../tables.ts";
import { type ContractItem, ITEMS, type Subject } from "./resources.ts";

const table = ITEMS;

export function tablesContract(subject: Subject): void {
  const fresh = (sk = "a"): { pk: string; sk: string } => ({ pk: randomUUID(), sk });
  const put = (item: ContractItem, when?: readonly Condition[]): Promise<unknown> =>
    subject().tables.write([{ op: "put", table, item, ...(when ? { when } : {}) }]);
  const partition = async (sks: readonly string[]): Promise<string> => {
    const pk = randomUUID();
    for (const sk of sks) await put({ pk, sk });
    return pk;
  };
  const sksOf = (items: readonly ContractItem[]): string[] => items.map(({ sk }) => sk);

  describe("tables: items", () => {
    it("returns items of every type unchanged", async () => {
      const item: ContractItem = {
        ...fresh("ключ/🙂"),
        n: -1.5,
        text: "line\nbreak \u0000 \u2028 🙂",
        bytes: new Uint8Array([0, 255, 7]),
        nested: { a: "", b: 0, c: null, d: true, e: ["x", ""], __proto___: "own" },
      };
      await put(item);
      expect(await subject().tables.get(table, { pk: item.pk, sk: item.sk })).toEqual(item);
    });

    it("returns undefined for missing and deleted items", async () => {
      const key = fresh();
      expect(await subject().tables.get(table, key)).toBeUndefined();
      await put(key);
      await subject().tables.write([{ op: "delete", table, key }]);
      expect(await subject().tables.get(table, key)).toBeUndefined();
    });

    it("replaces whole items", async () => {
      const key = fresh();
      await put({ ...key, n: 1, text: "old" });
      await put({ ...key, n: 2 });
      expect(await subject().tables.get(table, key)).toEqual({ ...key, n: 2 });
    });

    it("returns many items in the requested order, without missing ones", async () => {
      const pk = await partition(Array.from({ length: 120 }, (_, index) => `s${index}`));
      const keys = Array.from({ length: 130 }, (_, index) => ({ pk, sk: `s${129 - index}` }));
      const found = await subject().tables.batchGet(table, keys);
      expect(sksOf(found)).toEqual(Array.from({ length: 120 }, (_, index) => `s${119 - index}`));
    });
  });

  describe("tables: conditions", () => {
    const item: ContractItem = { ...fresh(), n: 5, text: "m", nested: { a: null } };
    const cases: readonly [Condition, boolean][] = [
      [["n", "exists"], true],
      [["gone", "exists"], false],
      [["gone", "missing"], true],
      [["n", "missing"], false],
      [["n", "=", 5], true],
      [["n", "=", "5"], false],
      [["n", "<>", 5], false],
      [["n", "<>", "5"], true],
      [["gone", "<>", 5], true],
      [["gone", "=", 5], false],
      [["n", "<", 6], true],
      [["n", "<", 5], false],
      [["n", "<=", 5], true],
      [["n", ">", 4], true],
      [["n", ">=", 6], false],
      [["n", "<", "9"], false],
      [["text", "<", "n"], true],
      [["text", ">", "\u{10000}"], false],
      [["gone", "<", 1], false],
    ];
    it.each(cases)("%j holds: %j", async (condition, holds) => {
      await put(item);
      const key = { pk: item.pk, sk: item.sk };
      const outcome = await subject().tables.write([{ op: "check", table, key, when: [condition] }]);
      expect(outcome).toEqual(holds ? { ok: true } : { ok: false, failed: [0] });
    });

    it("orders text by UTF-8 bytes, unlike JavaScript", async () => {
      const key = fresh();
      await put({ ...key, text: "\u{1F642}" });
      const outcome = await subject().tables.write([
        { op: "check", table, key, when: [["text", ">", "\uFF5E"]] },
      ]);
      expect(outcome).toEqual({ ok: true });
    });

    it("writes all or nothing, and reports every failed condition", async () => {
      const [one, two, three] = [fresh(), fresh(), fresh()];
      await put({ ...one, n: 1 });
      const outcome = await subject().tables.write([
        { op: "put", table, item: { ...one, n: 2 }, when: [["pk", "missing"]] },
        { op: "put", table, item: two },
        { op: "check", table, key: three, when: [["pk", "exists"]] },
      ]);
      expect(outcome).toEqual({ ok: false, failed: [0, 2] });
      expect(await subject().tables.get(table, one)).toEqual({ ...one, n: 1 });
      expect(await subject().tables.get(table, two)).toBeUndefined();
    });

    it("lets exactly one of many concurrent writers satisfy a condition", async () => {
      const key = fresh();
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          subject().tables.write([{ op: "put", table, item: { ...key, n }, when: [["pk", "missing"]] }]),
        ),
      );
      expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
    });
  });

  describe("tables: updates", () => {
    it("sets, keeps, adds and removes in one step and returns the new item", async () => {
      const key = fresh();
      await put({ ...key, n: 1, text: "kept", status: "old" });
      const item = await subject().tables.update(table, key, {
        set: { nested: { a: "new" } },
        setIfMissing: { text: "ignored", at: "first" },
        add: { n: 2 },
        remove: ["status", "gone"],
      });
      expect(item).toEqual({ ...key, n: 3, text: "kept", at: "first", nested: { a: "new" } });
      expect(await subject().tables.get(table, key)).toEqual(item);
    });

    it("creates a missing item, counting from 0", async () => {
      const key = fresh();
      expect(await subject().tables.update(table, key, { add: { n: 4 } })).toEqual({ ...key, n: 4 });
    });

    it("changes nothing and returns undefined if a condition does not hold", async () => {
      const key = fresh();
      await put({ ...key, n: 1 });
      expect(await subject().tables.update(table, key, { set: { n: 9 } }, [["n", "=", 2]])).toBeUndefined();
      expect(await subject().tables.get(table, key)).toEqual({ ...key, n: 1 });
    });

    it("loses none of many concurrent updates", async () => {
      const key = fresh();
      await Promise.all(
        Array.from({ length: 50 }, () => subject().tables.update(table, key, { add: { n: 1 } })),
      );
      expect(await subject().tables.get(table, key)).toEqual({ ...key, n: 50 });
    });
  });

  describe("tables: queries", () => {
    const order = ["A", "a", "a/1", "a/10", "a/2", "b", "é", "\uFF5E", "\u{1F642}"];

    it("returns one partition in the order of UTF-8 bytes, in both directions", async () => {
      const pk = await partition([...order].reverse());
      await partition(["other"]);
      expect(sksOf((await subject().tables.query(table, { pk })).items)).toEqual(order);
      const reverse = await subject().tables.query(table, { pk, reverse: true });
      expect(sksOf(reverse.items)).toEqual([...order].reverse());
    });

    it.each([
      [{ beginsWith: "a/" }, ["a/1", "a/10", "a/2"]],
      [{ from: "a/1", to: "b" }, ["a/1", "a/10", "a/2", "b"]],
      [{ after: "a/1", before: "b" }, ["a/10", "a/2"]],
      [{ beginsWith: "a", after: "a/1" }, ["a/10", "a/2"]],
      [{ from: "z", to: "b" }, []],
      [{ beginsWith: "\u{1F642}" }, ["\u{1F642}"]],
    ])("reads the range %j", async (sk, expected) => {
      const pk = await partition(order);
      expect(sksOf((await subject().tables.query(table, { pk, sk })).items)).toEqual(expected);
      const reverse = await subject().tables.query(table, { pk, sk, reverse: true });
      expect(sksOf(reverse.items)).toEqual([...expected].reverse());
    });

    it.each([false, true])("visits all pages once by cursor (reverse: %j)", async (reverse) => {
      const pk = await partition(order);
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await subject().tables.query(table, {
          pk,
          sk: { from: "a" },
          reverse,
          limit: 3,
          ...(cursor ? { cursor } : {}),
        });
        expect(page.items.length).toBeLessThanOrEqual(3);
        seen.push(...sksOf(page.items));
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(seen).toEqual(reverse ? order.slice(1).reverse() : order.slice(1));
    });

    it("ends a page at 1 MB", async () => {
      const pk = randomUUID();
      for (const sk of ["1", "2", "3", "4"]) await put({ pk, sk, text: "x".repeat(350_000) });
      const first = await subject().tables.query(table, { pk });
      expect(first.items.length).toBeLessThan(4);
      expect(first.cursor).toBeDefined();
      const rest = await subject().tables.query(table, { pk, cursor: first.cursor ?? "" });
      expect([...sksOf(first.items), ...sksOf(rest.items)]).toEqual(["1", "2", "3", "4"]);
    });

    it.each(["", "x", "!!!", "W10", Buffer.from('[["a"],["b"]]').toString("base64url")])(
      "refuses the cursor %j",
      async (cursor) => {
        const query = subject().tables.query(table, { pk: "p", cursor });
        await expect(query).rejects.toMatchObject({ code: "cursor_invalid" });
      },
    );

    it("rejects a cursor of another partition", async () => {
      const pk = await partition(["a", "b"]);
      const { cursor = "" } = await subject().tables.query(table, { pk, limit: 1 });
      const other = subject().tables.query(table, { pk: randomUUID(), cursor });
      await expect(other).rejects.toMatchObject({ code: "cursor_invalid" });
    });

    it("reads an index, which omits items without its attributes", async () => {
      const status = randomUUID();
      const keys = [fresh("1"), fresh("2"), fresh("3"), fresh("4")] as const;
      await put({ ...keys[0], status, at: "2" });
      await put({ ...keys[1], status, at: "1" });
      await put({ ...keys[2], status });
      await put({ ...keys[3], status: randomUUID(), at: "1" });
      const query = { index: "byStatus", pk: status };
      expect(sksOf((await subject().tables.query(table, query)).items)).toEqual(["2", "1"]);
      await subject().tables.update(table, keys[0], { set: { status: "done" } });
      await subject().tables.update(table, keys[1], { remove: ["at"] });
      await subject().tables.update(table, keys[2], { set: { at: "9" } });
      expect(sksOf((await subject().tables.query(table, query)).items)).toEqual(["3"]);
    });

    it.each([false, true])("pages through equal index keys without loss (reverse: %j)", async (reverse) => {
      const status = randomUUID();
      const names = Array.from({ length: 7 }, (_, index) => `s${index}`);
      for (const sk of names) await put({ ...fresh(sk), status, at: "same" });
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await subject().tables.query(table, {
          index: "byStatus",
          pk: status,
          reverse,
          limit: 2,
          ...(cursor ? { cursor } : {}),
        });
        seen.push(...sksOf(page.items));
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(seen.sort()).toEqual(names);
    });
  });

  describe("tables: limits", () => {
    const refused = { code: "limit_exceeded" };
    const many = (count: number, item: (index: number) => ContractItem): Write[] =>
      Array.from({ length: count }, (_, index) => ({ op: "put", table, item: item(index) }));

    it.each<[string, ContractItem]>([
      ["an item above 400 KB", { ...fresh(), text: "x".repeat(410_000) }],
      ["an item above 400 KB in UTF-8", { ...fresh(), text: "é".repeat(205_000) }],
      ["an empty sort key", { pk: "p", sk: "" }],
      ["an empty partition key", { pk: "", sk: "s" }],
      ["a sort key above 1024 bytes", { pk: "p", sk: "é".repeat(513) }],
      ["a partition key above 2048 bytes", { pk: "x".repeat(2049), sk: "s" }],
      ["an empty index key", { ...fresh(), status: "", at: "x" }],
    ])("refuses %s", async (_, item) => {
      await expect(put(item)).rejects.toMatchObject(refused);
    });

    it("accepts items of the maximum size", async () => {
      const item = { pk: "k".repeat(2048), sk: "é".repeat(512), text: "x".repeat(405_000) };
      await put(item);
      expect(await subject().tables.get(table, { pk: item.pk, sk: item.sk })).toEqual(item);
    });

    it("accepts 100 writes, and rejects 101, one item twice, and more than 4 MB in total", async () => {
      const pk = randomUUID();
      expect(await subject().tables.write(many(100, (n) => ({ pk, sk: `${n}` })))).toEqual({ ok: true });
      await expect(subject().tables.write(many(101, (n) => ({ pk, sk: `${n}` })))).rejects.toMatchObject(
        refused,
      );
      await expect(subject().tables.write(many(2, (n) => ({ pk, sk: "same", n })))).rejects.toMatchObject(
        refused,
      );
      const large = many(12, (n) => ({ pk, sk: `${n}`, text: "x".repeat(380_000) }));
      await expect(subject().tables.write(large)).rejects.toMatchObject(refused);
    });

    it("rejects an update that makes the item too large, and does not change the item", async () => {
      const key = fresh();
      await put({ ...key, text: "x".repeat(300_000) });
      const update = subject().tables.update(table, key, {
        set: { status: "y".repeat(900), nested: { a: "x".repeat(200_000) } },
      });
      await expect(update).rejects.toMatchObject(refused);
      expect((await subject().tables.get(table, key))?.status).toBeUndefined();
    });
  });
}
