import { type ClockRanges, summarizeUpdate, type UpdateSummary } from "../updates/yjs-update.ts";

/**
 * How a sent Yjs state relates to the current one:
 * - `same`: each contains everything of the other.
 * - `ahead`: the sent state contains the current one and more.
 * - `behind`: the sent state adds nothing.
 * - `diverged`: both contain something that the other lacks, and they have history in common.
 * - `unrelated`: they have no history in common. Merging them would show both contents, or hide one.
 */
export type Lineage = "same" | "ahead" | "behind" | "diverged" | "unrelated";

/**
 * Compares two Yjs states without building documents: the structs and the deletions of each client, which the
 * encoding names by their clocks. Bytes that are no Yjs update are unrelated to all others.
 */
export function compareStates(current: Uint8Array, sent: Uint8Array): Lineage {
  const [before, after] = [summarizeUpdate(current), summarizeUpdate(sent)];
  if (before === undefined || after === undefined) return "unrelated";
  const isComplete = contains(after, before);
  const isKnown = contains(before, after);
  if (isComplete) return isKnown ? "same" : "ahead";
  if (isKnown) return "behind";
  return isRelated(before, after) || isRelated(after, before) ? "diverged" : "unrelated";
}

type Ranges = ReadonlyMap<number, ClockRanges>;

const contains = (one: UpdateSummary, other: UpdateSummary): boolean =>
  covers(one.structs, other.structs) && covers(one.deletions, other.deletions);

function covers(one: Ranges, other: Ranges): boolean {
  for (const [client, ranges] of other) {
    const covering = merged(one.get(client) ?? []);
    let at = 0;
    for (const [start, end] of pairs(merged(ranges))) {
      while ((covering[at + 1] ?? Number.POSITIVE_INFINITY) < end) at += 2;
      if ((covering[at] ?? Number.POSITIVE_INFINITY) > start) return false;
    }
  }
  return true;
}

function* pairs(ranges: ClockRanges): Generator<[start: number, end: number]> {
  for (let at = 0; at + 1 < ranges.length; at += 2) yield [ranges[at] as number, ranges[at + 1] as number];
}

/** The ranges sorted, without overlaps and without neighbours. */
function merged(ranges: ClockRanges): ClockRanges {
  const made: number[] = [];
  for (const [start, end] of sorted(ranges)) {
    const last = made.at(-1);
    if (last !== undefined && start <= last) made[made.length - 1] = Math.max(last, end);
    else made.push(start, end);
  }
  return made;
}

/** Yjs writes ranges in order, so they are hardly ever sorted. */
function sorted(ranges: ClockRanges): Iterable<[start: number, end: number]> {
  for (let at = 2; at < ranges.length; at += 2)
    if ((ranges[at] as number) < (ranges[at - 2] as number))
      return [...pairs(ranges)].sort(([a], [b]) => a - b);
  return pairs(ranges);
}

/** Whether one state contains structs that the other contains, continues, deletes or refers to. */
function isRelated({ structs }: UpdateSummary, other: UpdateSummary): boolean {
  for (const [client, ranges] of structs) {
    const own = merged(ranges);
    const clock = other.references.get(client);
    if (clock !== undefined && overlap(own, [clock, clock + 1], 0)) return true;
    if (overlap(own, merged(other.deletions.get(client) ?? []), 0)) return true;
    if (overlap(own, merged(other.structs.get(client) ?? []), 1)) return true;
  }
  return false;
}

/** Whether sorted ranges have clocks in common; with `gap` 1 also whether they are neighbours. */
function overlap(some: ClockRanges, others: ClockRanges, gap: 0 | 1): boolean {
  let at = 0;
  for (const [start, end] of pairs(some)) {
    while ((others[at + 1] ?? Number.POSITIVE_INFINITY) + gap <= start) at += 2;
    if ((others[at] ?? Number.POSITIVE_INFINITY) < end + gap) return true;
  }
  return false;
}
