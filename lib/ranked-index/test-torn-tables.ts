import { applyChange, conditionsHold } from "../platform/conditions.ts";
import type { StoredItem } from "../platform/item-size.ts";
import { compareUtf8 } from "../platform/key-order.ts";
import type { Key, Page, Query, TableSpec, Tables, Write, WriteOutcome } from "../platform/tables.ts";

/** Yields to all other tasks for a random time. */
export type Step = () => Promise<void>;

/** Turns of the others that a pause takes. */
const PAUSES = [1, 1, 1, 1, 1, 1, 30, 300];

/** A step after which any task may run next, and an unpredictable order of values. */
export function hostileSteps(
  scheduler: { schedule(task: Promise<void>): Promise<void> },
  chance: Iterator<number>,
): {
  readonly step: Step;
  /** Without pauses: a transaction is slow, not stuck. */
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
 * In-memory tables with only DynamoDB's guarantees: a transaction is all or nothing and no other writer changes its
 * items meanwhile, but the items change one at a time, in any order, and readers see each of them before or after its
 * change. Batches and queries also read items one at a time, each in its current state.
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
    const failed = writes.flatMap(({ when }, at) => (conditionsHold(held[at]?.item, when) ? [] : [at]));
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
      // One item at a time in key order, in its state at that time.
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

/** JSON represents bytes as an object keyed by index. */
function revive(name: string, value: unknown): unknown {
  return name === "bytes" ? Uint8Array.from(Object.values(value as Record<string, number>)) : value;
}
