import { afterEach, beforeEach, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import type { Key, TableSpec } from "../tables.ts";

const table: TableSpec<Key> = { name: "documents", indexes: {} };
const PARTITIONS = 3;
const ITEMS = 10;

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
  for (let partition = 0; partition < PARTITIONS; partition += 1)
    await test.deps.tables.write(
      Array.from({ length: ITEMS }, (_, at) => ({
        op: "put" as const,
        table,
        item: { pk: `p${partition}`, sk: `s${at}` },
      })),
    );
});
afterEach(() => test.close());

it.each([1, 7, 15, 30, 100])(
  "a table is read from end to end in pages of %i, every item once",
  async (limit) => {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await test.deps.tables.scan(table, { limit, ...(cursor === undefined ? {} : { cursor }) });
      expect(page.items.length).toBeLessThanOrEqual(limit);
      seen.push(...page.items.map(({ pk, sk }) => `${pk} ${sk}`));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(seen).toHaveLength(PARTITIONS * ITEMS);
    expect(new Set(seen).size).toBe(PARTITIONS * ITEMS);
  },
);

it("a page requires a limit, and a cursor of the same table", async () => {
  await expect(test.deps.tables.scan(table, { limit: 0 })).rejects.toThrow(RangeError);
  const { cursor = "" } = await test.deps.tables.scan(table, { limit: 1 });
  await expect(
    test.deps.tables.scan({ name: "users", indexes: {} }, { limit: 1, cursor }),
  ).rejects.toMatchObject({ code: "cursor_invalid" });
});
