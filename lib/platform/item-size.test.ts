import { describe, expect, it } from "vitest";
import { measure } from "./item-size.ts";

describe("the size of an item", () => {
  it("counts names and texts in UTF-8, lists and maps by their members", () => {
    expect([
      measure("é"),
      measure({ é: "a" }),
      measure([true, null]),
      measure(12345),
      measure(new Uint8Array(9)),
    ]).toEqual([2, 7, 7, 4, 9]);
  });
});
