import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  add,
  decode,
  emptyPostings,
  encode,
  has,
  intersect,
  type Postings,
  remove,
  SEGMENT_SIZE,
} from "./postings.ts";

const position = fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: SEGMENT_SIZE - 1 }));

function setOf(positions: Iterable<number>): Postings {
  let set = emptyPostings();
  for (const each of positions) set = add(set, each);
  return set;
}

function everyNth(step: number): number[] {
  return Array.from({ length: Math.ceil(SEGMENT_SIZE / step) }, (_, index) => index * step);
}

describe("a set of positions", () => {
  it("contains what was added and not removed, also after encoding", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(position, fc.boolean()), { maxLength: 300 }), (changes) => {
        const model = new Set<number>();
        let set = emptyPostings();
        for (const [at, present] of changes) {
          set = present ? add(set, at) : remove(set, at);
          if (present) model.add(at);
          else model.delete(at);
        }
        const again = decode(encode(set));
        for (const check of [set, again]) {
          expect(check.count).toBe(model.size);
          for (const [at] of changes) expect(has(check, at)).toBe(model.has(at));
        }
      }),
    );
  });

  it("becomes a bitmap when it grows, and stays within 8 KB", () => {
    const set = setOf(everyNth(3));
    expect(set.kind).toBe("dense");
    expect(encode(set).length).toBe(8193);
    expect(decode(encode(set)).count).toBe(set.count);
    expect(add(set, 1).count).toBe(set.count);
  });
});

describe("an intersection", () => {
  it("counts and selects like a plain filter, for sparse, dense, negated and clipped sets", () => {
    const source = fc.oneof(
      fc.array(position, { maxLength: 60 }),
      fc.integer({ min: 2, max: 12 }).map(everyNth),
    );
    const term = fc.record({ positions: source, negated: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(term, { maxLength: 4 }),
        fc.integer({ min: 0, max: 300 }),
        fc.oneof(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: SEGMENT_SIZE })),
        fc.nat(500),
        fc.nat(50),
        (terms, from, to, skip, take) => {
          const models = terms.map(({ positions, negated }) => ({ positions: new Set(positions), negated }));
          const expected: number[] = [];
          for (let at = to - 1; at >= from; at -= 1) {
            if (models.every(({ positions, negated }) => positions.has(at) !== negated)) expected.push(at);
          }
          const found = intersect(
            terms.map(({ positions, negated }) => ({ set: setOf(positions), negated })),
            from,
            to,
          );
          expect(found.count).toBe(expected.length);
          expect(found.pick(skip, take)).toEqual(expected.slice(skip, skip + take));
        },
      ),
      { numRuns: 60 },
    );
  });
});
