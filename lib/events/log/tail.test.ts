import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { testDeps } from "../../testing/test-deps.ts";
import { tailPartitions } from "./table.ts";
import { acknowledgeTail } from "./tail.ts";

it("reads the tail once, however many records are no longer in it", async () => {
  const { deps, close } = await testDeps();
  try {
    const read: string[] = [];
    const tables: typeof deps.tables = {
      ...deps.tables,
      query: (table, query) => {
        read.push(query.pk);
        return deps.tables.query(table, query);
      },
    };
    const records = Array.from({ length: 300 }, (_, number) => ({
      eventId: randomUUID(),
      number,
      final: true,
    }));
    await acknowledgeTail({ tables }, records, new Map());
    expect(read.sort()).toEqual(tailPartitions("tail").sort());
  } finally {
    await close();
  }
});
