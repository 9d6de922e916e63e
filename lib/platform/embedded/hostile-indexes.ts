import type { Clock } from "../clock.ts";
import { decodeCursor, encodeCursor } from "../cursor.ts";
import { boundsOf, compareUtf8, isWithinBounds } from "../key-order.ts";
import type { Key, Page, Query, TableSpec, Tables, Write } from "../tables.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The item as the indexes show it until a later write becomes visible in them. */
interface Stale {
  readonly key: Key;
  readonly before: Fields | undefined;
  readonly until: number;
}

const nameOf = (table: string, { pk, sk }: Key): string => JSON.stringify([table, pk, sk]);

/**
 * Tables whose indexes show each write only after its own random delay of up to `lagMs`; reads of the tables themselves
 * are current. A query of an index reads the whole partition: for tests.
 */
export function laggingTables(tables: Tables, clock: Clock, lagMs: number, random: () => number): Tables {
  const stale = new Map<string, Stale[]>();

  const note = async (table: TableSpec, key: Key): Promise<void> => {
    if (Object.keys(table.indexes).length === 0) return;
    const before = (await tables.get(table, key)) as Fields | undefined;
    const name = nameOf(table.name, key);
    const until = clock.now() + Math.ceil(random() * lagMs);
    stale.set(name, [...(stale.get(name) ?? []), { key, before, until }]);
  };
  const noteAll = async (writes: readonly Write[]): Promise<void> => {
    for (const write of writes) {
      if (write.op !== "check") await note(write.table, write.op === "put" ? write.item : write.key);
    }
  };

  /** By name: for each item of a table, the oldest state that its indexes may still show. */
  const seen = (table: string): Map<string, Stale> => {
    const now = clock.now();
    const oldest = new Map<string, Stale>();
    for (const [name, list] of stale) {
      const left = list.filter(({ until }) => until > now);
      const [first] = left;
      if (first === undefined) stale.delete(name);
      else {
        stale.set(name, left);
        if (nameOf(table, first.key) === name) oldest.set(name, first);
      }
    }
    return oldest;
  };

  const queryIndex = async <Item extends Key>(
    table: TableSpec<Item>,
    { index = "", pk, sk = {}, reverse = false, limit = Number.POSITIVE_INFINITY, cursor }: Query,
  ): Promise<Page<Item>> => {
    const spec = table.indexes[index];
    if (spec === undefined) throw new TypeError(`the table ${table.name} has no index "${index}"`);
    const items: Fields[] = [];
    let next: string | undefined;
    do {
      const page = await tables.query(table, {
        index,
        pk,
        sk,
        ...(next === undefined ? {} : { cursor: next }),
      });
      items.push(...(page.items as unknown as Fields[]));
      next = page.cursor;
    } while (next !== undefined);
    const old = seen(table.name);
    const bounds = boundsOf(sk);
    const visible = items.filter((item) => !old.has(nameOf(table.name, item as unknown as Key)));
    for (const { before } of old.values()) {
      const sort = before?.[spec.sk];
      if (before?.[spec.pk] === pk && typeof sort === "string" && isWithinBounds(sort, bounds))
        visible.push(before);
    }
    const placeOf = (item: Fields): string[] => [spec.sk, "pk", "sk"].map((name) => String(item[name]));
    const compare = (left: readonly string[], right: readonly string[]): number => {
      const orders = left.map((part, at) => compareUtf8(part, right[at] ?? ""));
      return (orders.find((order) => order !== 0) ?? 0) * (reverse ? -1 : 1);
    };
    visible.sort((left, right) => compare(placeOf(left), placeOf(right)));
    const scope = [table.name, index, pk, reverse ? "reverse" : "forward"];
    const after = cursor === undefined ? undefined : decodeCursor(cursor, scope, 3);
    const rest = after === undefined ? visible : visible.filter((item) => compare(placeOf(item), after) > 0);
    const page = rest.slice(0, limit);
    const last = page.at(-1);
    return {
      items: page as unknown as Item[],
      ...(last === undefined || page.length === rest.length
        ? {}
        : { cursor: encodeCursor(scope, placeOf(last)) }),
    };
  };

  return {
    get: (table, key) => tables.get(table, key),
    batchGet: (table, keys) => tables.batchGet(table, keys),
    scan: (table, scan) => tables.scan(table, scan),
    query: (table, query) =>
      query.index === undefined ? tables.query(table, query) : queryIndex(table, query),
    write: async (writes) => {
      await noteAll(writes);
      return tables.write(writes);
    },
    update: async (table, key, change, when) => {
      await note(table as TableSpec, key);
      return tables.update(table, key, change, when);
    },
  };
}
