import type { Listing, OrderedPageRequest, PageRequest } from "../../http/page.ts";
import type { Key } from "../../platform/tables.ts";
import { toRow } from "../../ranked-index/deltas.ts";
import { pageSizeOf } from "../../ranked-index/page-size.ts";
import { fromOtherEnd } from "../../ranked-index/page-window.ts";
import { type Filter, type FoundRecord, matchesTests, toTests, type View } from "../../ranked-index/view.ts";
import { allOf, type List, type ListDeps, listItems, recordsOf } from "./list.ts";
import { entryKey, pendingKeys } from "./table.ts";

/** A record and its number in the index. */
export interface Numbered<Item> {
  readonly number: number;
  readonly item: Item;
}

/** Maximum growth of an index since it was last read here for which its new keys are read, records. */
const NEAR = 1_024;

/**
 * Returns the records that pass the filters, newest first unless the page says otherwise: the total, and the page from
 * `offset` on. Records that are not indexed yet are the newest, so a caller reads its own write. Records are shown in
 * their current state; filters see changes once the index is updated.
 */
export async function readList<Item extends Key>(
  deps: ListDeps,
  list: List<Item>,
  filters: readonly Filter[],
  page: OrderedPageRequest,
): Promise<Listing<Item>> {
  const { view, fresh } = await readTogether(deps, list, filters);
  return assemble(deps, list, { view, fresh, late: [] }, page);
}

/** The contents of a list at one instant. */
export interface Together<Item> {
  /** The matching rows of the index. */
  readonly view: View;
  /** Matching records that are not indexed yet, newest first. */
  readonly fresh: readonly Item[];
}

/**
 * The pending entry of a new record is deleted only after the index shows the record to all readers; pending entries
 * are read first, so no record is missed. A record with a pending entry may be indexed as well: then it has an entry
 * with a number, or it was not in the blocks of the index when the pending entries were read.
 */
export async function readTogether<Item extends Key>(
  deps: ListDeps,
  list: List<Item>,
  filters: readonly Filter[],
): Promise<Together<Item>> {
  const index = deps.lists[list.name];
  let before = index.floor;
  let marked = await markedOf(deps, list);
  let entries = await entriesOf(deps, list, marked);
  let view = await index.view(filters);
  if (marked.length > 0 && (before === undefined || view.merged - before > NEAR)) {
    before = view.merged;
    marked = await markedOf(deps, list);
    entries = await entriesOf(deps, list, marked);
    view = await index.view(filters);
  }
  if (marked.length === 0) return { view, fresh: [] };
  const held = new Set(await view.keysAfter(before ?? 0));
  const keys = marked.filter((key) => {
    const entry = entries.get(key);
    return entry === undefined ? !held.has(key) : entry.number > view.last;
  });
  const records = [...(await recordsOf(deps, list, keys)).values()];
  return { view, fresh: newestFirst(list, records).filter(passing(list, filters)) };
}

/** Returns the keys of all pending entries, without duplicates. */
async function markedOf<Item extends Key>(deps: ListDeps, { name }: List<Item>): Promise<string[]> {
  return [...new Set((await allOf(deps, name, "pending")).flatMap(pendingKeys))];
}

const entriesOf = <Item extends Key>(deps: ListDeps, { name }: List<Item>, keys: readonly string[]) =>
  listItems(
    deps,
    keys.map((key) => entryKey(name, key)),
  );

/** Maps the items of a listing. */
export function mapped<Item, Made>(
  { total, items }: Listing<Item>,
  make: (item: Item) => Made,
): Listing<Made> {
  return { total, items: eachMapped(items, make) };
}

async function* eachMapped<Item, Made>(
  pages: AsyncIterable<readonly Item[]>,
  make: (item: Item) => Made,
): AsyncGenerator<Made[]> {
  for await (const page of pages) yield page.map(make);
}

export function newestFirst<Item extends Key>(list: List<Item>, items: readonly Item[]): Item[] {
  const ordered = items.map((item) => ({ item, order: list.orderOf(item) }));
  ordered.sort((one, other) => (one.order < other.order ? 1 : one.order > other.order ? -1 : 0));
  return ordered.map(({ item }) => item);
}

/** Whether a record in its current state passes filters, by the rules of the index. */
export function passing<Item extends Key>(
  list: List<Item>,
  filters: readonly Filter[],
): (item: Item) => boolean {
  const tests = toTests(filters);
  return (item) => {
    const { fields, text } = (list.currentFields ?? list.indexedFields)(item);
    return matchesTests(toRow({ key: item.pk, fields, ...(text === undefined ? {} : { text }) }, 0), tests);
  };
}

/**
 * Returns one page: fresh records, then the index, with `late` records that the view lacks inserted in order. A page of
 * the oldest first is read from the other end: the total is of the same instant, so it costs the same.
 */
export async function assemble<Item extends Key>(
  deps: ListDeps,
  list: List<Item>,
  { view, fresh, late }: Together<Item> & { readonly late: readonly Numbered<Item>[] },
  page: OrderedPageRequest,
): Promise<Listing<Item>> {
  const total = fresh.length + late.length + view.total;
  const { offset, limit } = page.oldestFirst === true ? fromOtherEnd(total, page) : page;
  const shown = fresh.slice(offset, offset + limit);
  const from = Math.max(0, offset - fresh.length);
  const found = await merged(view, late, { offset: from, limit: limit - shown.length });
  const places = [...shown.map((item) => ({ item })), ...found];
  return { total, items: inPages(deps, list, page.oldestFirst === true ? places.reverse() : places) };
}

type Place<Item> = FoundRecord | Numbered<Item>;

async function merged<Item>(
  view: View,
  late: readonly Numbered<Item>[],
  { offset, limit }: PageRequest,
): Promise<Place<Item>[]> {
  if (late.length === 0) return view.page({ offset, limit });
  // At most all of the late records come before the requested offset.
  const base = Math.max(0, offset - late.length);
  const window = await view.page({ offset: base, limit: limit + offset - base });
  const first = window[0]?.number ?? 0;
  const before = base === 0 ? 0 : late.filter(({ number }) => number > first).length;
  const all: Place<Item>[] = base === 0 ? [...late] : late.filter(({ number }) => number < first);
  const ordered = [...all, ...window].sort((one, other) => other.number - one.number);
  const skip = offset - base - before;
  return ordered.slice(skip, skip + limit);
}

async function* inPages<Item extends Key>(
  deps: ListDeps,
  list: List<Item>,
  places: readonly (FoundRecord | Pick<Numbered<Item>, "item">)[],
): AsyncGenerator<Item[]> {
  const size = pageSizeOf(list);
  for (let start = 0; start < places.length; ) {
    const part = places.slice(start, start + size.records);
    start += part.length;
    const keys = part.flatMap((place) => ("key" in place ? [place.key] : []));
    const records = await recordsOf(deps, list, keys);
    const items = part.flatMap((place) => ("key" in place ? (records.get(place.key) ?? []) : [place.item]));
    // One record is measured as an estimate for the page: measuring all would cost as much as serializing them.
    size.note(JSON.stringify(items[0] ?? "").length);
    yield items;
  }
}

/** Items that are in memory as the items of a listing. */
export async function* onePage<Item>(items: readonly Item[]): AsyncGenerator<readonly Item[]> {
  yield items;
}
