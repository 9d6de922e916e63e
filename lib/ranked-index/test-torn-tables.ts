import { allHold, applyChange } from "../platform/conditions.ts";
import type { StoredItem } from "../platform/item-size.ts";
import { compareUtf8 } from "../platform/key-order.ts";
import type { Key, Page, Query, TableSpec, Tables, Write, WriteOutcome } from "../platform/tables.ts";

/** Lets everything else go on for as long as it likes. */
export type Step = () => Promise<void>;

/** How long one stands still now and then, turns of the others. */
const PAUSES = [1, 1, 1, 1, 1, 1, 30, 300];

/** A step after which anybody may be next, and an order of values that nobody can foresee. */
export function hostileSteps(
  scheduler: { schedule(task: Promise<void>): Promise<void> },
  chance: Iterator<number>,
): {
  readonly step: Step;
  /** Without standing still: a transaction is slow, not stuck. */
  readonly briefStep: Step;
  readonly shuffle: <Value>(values: readonly Value[]) => Value[];
  calm(): void;
} {
  const random = (): number => chance.next().value as number;
  let calm = false;
  let steps = 0;
  return {
    step: async () => {
      if (calm) return;
      steps += 1;
      const turns = steps % 5 === 0 ? (PAUSES[random() % PAUSES.length] ?? 1) : 1;
      for (let turn = 0; turn < turns; turn += 1) await scheduler.schedule(Promise.resolve());
    },
    briefStep: async () => {
      if (!calm) await scheduler.schedule(Promise.resolve());
    },
    shuffle: (values) =>
      values
        .map((value) => ({ value, rank: random() }))
        .sort((one, other) => one.rank - other.rank)
        .map(({ value }) => value),
    calm: () => {
      calm = true;
    },
  };
}

interface Cell {
  item: StoredItem | undefined;
  locked: boolean;
}

/**
 * Tables in memory that promise what DynamoDB does and no more: a transaction is all or nothing and nobody else
 * writes its items meanwhile, but they change one by one, in any order, and readers see each of them before or
 * after it. A batch or a query reads its items one by one as well. Whatever is read is read at the time.
 */
export function tornTables({
  step,
  briefStep,
  shuffle,
}: Omit<ReturnType<typeof hostileSteps>, "calm">): Tables {
  const cells = new Map<string, Cell>();
  const nameOf = (table: string, { pk, sk }: Key): string => [table, pk, sk].join("\n");
  const cellOf = (table: string, key: Key): Cell => {
    const name = nameOf(table, key);
    const cell = cells.get(name) ?? { item: undefined, locked: false };
    cells.set(name, cell);
    return cell;
  };
  const read = async <Item extends Key>(table: TableSpec<Item>, key: Key): Promise<Item | undefined> => {
    await step();
    return cellOf(table.name, key).item as unknown as Item | undefined;
  };
  const after = (write: Write, before: StoredItem | undefined): StoredItem | undefined => {
    if (write.op === "put") return JSON.parse(JSON.stringify(write.item), revive) as StoredItem;
    if (write.op === "update") return applyChange(before ?? { ...write.key }, write.change);
    return write.op === "delete" ? undefined : before;
  };

  const commit = async (writes: readonly Write[]): Promise<WriteOutcome> => {
    await step();
    const held = writes.map((write) => cellOf(write.table.name, write.op === "put" ? write.item : write.key));
    while (held.some(({ locked }) => locked)) await step();
    const failed = writes.flatMap(({ when }, at) => (allHold(held[at]?.item, when) ? [] : [at]));
    if (failed.length > 0) return { ok: false, failed };
    for (const cell of held) cell.locked = true;
    const planned = writes.map((write, at) => ({ cell: held[at], item: after(write, held[at]?.item) }));
    for (const { cell, item } of shuffle(planned)) {
      await briefStep();
      if (cell === undefined) continue;
      cell.item = item;
      cell.locked = false;
    }
    await step();
    return { ok: true };
  };

  return {
    get: read,
    batchGet: async (table, keys) => {
      const found = new Map<string, Awaited<ReturnType<typeof read<never>>>>();
      for (const key of shuffle(keys)) {
        const item = await read(table, key);
        if (item !== undefined) found.set(nameOf(table.name, key), item as never);
      }
      return keys.flatMap((key) => found.get(nameOf(table.name, key)) ?? []);
    },
    scan: () => Promise.reject(new Error("the ranked index scans nothing")),
    query: async <Item extends Key>(table: TableSpec<Item>, { pk }: Query): Promise<Page<Item>> => {
      const prefix = `${table.name}\n${pk}\n`;
      const items: Item[] = [];
      // Item by item in the order of the keys, as they are when their turn comes.
      for (let last: string | undefined; ; ) {
        await step();
        const next = [...cells.keys()]
          .filter((name) => name.startsWith(prefix) && (last === undefined || compareUtf8(name, last) > 0))
          .sort(compareUtf8)[0];
        if (next === undefined) return { items };
        const item = cells.get(next)?.item;
        if (item !== undefined) items.push(item as unknown as Item);
        last = next;
      }
    },
    write: commit,
    update: async (table, key, change, when) => {
      const write = { op: "update", table, key, change, ...(when === undefined ? {} : { when }) } as const;
      const outcome = await commit([write]);
      return outcome.ok ? ((await read(table, key)) as never) : undefined;
    },
  };
}

/** Bytes go through JSON as an object of their places. */
function revive(name: string, value: unknown): unknown {
  return name === "bytes" ? Uint8Array.from(Object.values(value as Record<string, number>)) : value;
}
