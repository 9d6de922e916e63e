import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { measureItem } from "../item-size.ts";
import type { Attribute } from "../tables.ts";
import { decodeItem, encodeItem } from "./item-codec.ts";

const attribute: fc.Arbitrary<Attribute> = fc.letrec<{ value: Attribute }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.string({ unit: "binary" }),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n)),
    fc.boolean(),
    fc.constant(null),
    fc.uint8Array({ maxLength: 20 }),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(
      fc.oneof(fc.string(), fc.constantFrom("\u0000b", "\u0000", "\u0000\u0000b", "__proto__")),
      tie("value"),
      {
        maxKeys: 4,
        noNullPrototype: true,
      },
    ),
  ),
})).value;

describe("stored items", () => {
  it("restore every value, with any names and texts", () => {
    void fc.assert(
      fc.property(attribute, (value) => {
        expect(decodeItem(encodeItem({ value }).text)).toEqual({ value });
      }),
    );
  });

  it("are never measured smaller than they are", () => {
    void fc.assert(
      fc.property(attribute, (value) => {
        expect(encodeItem({ value }).bytes).toBeGreaterThanOrEqual(measureItem({ value }));
      }),
    );
  });

  it.each([
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    [10n],
    [new Date()],
    [() => 1],
    [new Map()],
    [[undefined]],
  ])("cannot hold %s", (value) => {
    expect(() => encodeItem({ value })).toThrow(TypeError);
  });

  it("may nest 32 levels and no more", () => {
    const nested = (levels: number): unknown => (levels === 0 ? "x" : [nested(levels - 1)]);
    expect(encodeItem({ value: nested(32) }).text).toContain("x");
    expect(() => encodeItem({ value: nested(33) })).toThrow(/itemDepth/);
  });
});
