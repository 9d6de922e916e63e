import { describe, expect, it } from "vitest";
import { measureItem } from "./item-size.ts";

describe("the size of an item", () => {
  it("counts names and texts in UTF-8, lists and maps by their members", () => {
    expect([
      measureItem("é"),
      measureItem({ é: "a" }),
      measureItem([true, null]),
      measureItem(12345),
      measureItem(new Uint8Array(9)),
    ]).toEqual([2, 7, 7, 4, 9]);
  });
});
