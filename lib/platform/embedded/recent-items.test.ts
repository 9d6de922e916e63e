import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Condition, Key, TableSpec, Write } from "../tables.ts";
import type { EmbeddedPlatform } from "./platform.ts";
import { openForTest, temporaryFolder } from "./test-platform.ts";

const table: TableSpec<Key & { readonly version: number }> = { name: "pairs", indexes: {} };

let platform: EmbeddedPlatform;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeEach(async () => {
  folder = await temporaryFolder();
  const tables = [{ name: table.name, indexes: {} }];
  platform = await openForTest(folder.path, { tables, queues: [], rules: [], schedules: [] });
});
afterEach(async () => {
  await platform.close();
  await folder.remove();
});

type Step =
  | { readonly op: "put" | "guarded" | "check"; readonly at: number; readonly version: number }
  | { readonly op: "delete"; readonly at: number }
  | { readonly op: "update"; readonly at: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ op: fc.constantFrom("put", "guarded", "check"), at: fc.nat(2), version: fc.nat(3) }),
  fc.record({ op: fc.constant("delete"), at: fc.nat(2) }),
  fc.record({ op: fc.constant("update"), at: fc.nat(2) }),
);

test("conditions see what was written last, whether it is kept or not, also within a group", async () => {
  const { tables } = platform.ports;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 12 }), async (groups) => {
      const model = new Map<number, number>();
      const keyOf = (at: number): Key => ({ pk: "p", sk: `${at}` });
      for (let at = 0; at < 3; at += 1) await tables.write([{ op: "delete", table, key: keyOf(at) }]);
      for (const group of groups) {
        const outcomes = group.map(async (one) => {
          if (one.op === "update")
            return (await tables.update(table, keyOf(one.at), { add: { version: 1 } }))?.version;
          if (one.op === "delete")
            return (await tables.write([{ op: "delete", table, key: keyOf(one.at) }])).ok;
          const when: Condition[] = [["version", "=", one.op === "put" ? 0 : one.version]];
          if (one.op === "check")
            return (await tables.write([{ op: "check", table, key: keyOf(one.at), when }])).ok;
          const write: Write = {
            op: "put",
            table,
            item: { ...keyOf(one.at), version: one.version + 1 },
            ...(one.op === "guarded" ? { when } : {}),
          };
          return (await tables.write([write])).ok;
        });
        const expected = group.map((one) => {
          const before = model.get(one.at);
          if (one.op === "delete") {
            model.delete(one.at);
            return true;
          }
          if (one.op === "update") {
            model.set(one.at, (before ?? 0) + 1);
            return model.get(one.at);
          }
          if (one.op !== "put" && before !== one.version) return false;
          if (one.op === "check") return true;
          model.set(one.at, one.version + 1);
          return true;
        });
        expect(await Promise.all(outcomes)).toEqual(expected);
      }
      for (let at = 0; at < 3; at += 1)
        expect((await tables.get(table, keyOf(at)))?.version).toBe(model.get(at));
    }),
    { numRuns: 60 },
  );
});
