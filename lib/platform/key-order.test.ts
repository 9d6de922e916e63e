import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { afterPrefix, boundsOf, compareUtf8, isWithinBounds } from "./key-order.ts";

const text = fc.string({ unit: "binary", maxLength: 6 });
const sign = (order: number | undefined): number => Math.sign(order ?? 0);

describe("the order of keys", () => {
  it("sorts the end of a prefix after everything that begins with it or sorts before it", () => {
    void fc.assert(
      fc.property(text, text, (prefix, other) => {
        const after = afterPrefix(prefix);
        expect(after === undefined || compareUtf8(prefix + other, after) < 0).toBe(true);
        if (after === undefined || compareUtf8(other, prefix) < 0) return;
        expect(compareUtf8(other, after) < 0).toBe(other.startsWith(prefix));
      }),
    );
  });

  it("has no text after the last code point", () => {
    expect([
      afterPrefix("a"),
      afterPrefix("\ud7ff"),
      afterPrefix("a\u{10ffff}"),
      afterPrefix("\u{10ffff}"),
    ]).toEqual(["b", "\ue000", "b", undefined]);
  });

  it("reduces a range to one bound per side that hold exactly when the whole range does", () => {
    const part = fc.option(fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 3 }), {
      nil: undefined,
    });
    const range = fc.record({ beginsWith: part, from: part, to: part, after: part, before: part });
    void fc.assert(
      fc.property(
        range,
        fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 4 }),
        (sides, value) => {
          const { beginsWith = "", from, to, after, before } = sides;
          const holds =
            value.startsWith(beginsWith) &&
            (from === undefined || sign(compareUtf8(value, from)) >= 0) &&
            (to === undefined || sign(compareUtf8(value, to)) <= 0) &&
            (after === undefined || sign(compareUtf8(value, after)) > 0) &&
            (before === undefined || sign(compareUtf8(value, before)) < 0);
          const given = Object.fromEntries(Object.entries(sides).filter(([, side]) => side !== undefined));
          expect(isWithinBounds(value, boundsOf(given))).toBe(holds);
        },
      ),
    );
  });
});
