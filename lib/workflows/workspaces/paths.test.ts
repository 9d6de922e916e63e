import * as fc from "fast-check";
import { expect, it } from "vitest";
import { toLocal, toShared } from "./paths.ts";

const HERE = '/data/of "a"/workspaces';

it.each([
  [`${HERE}/t/x.txt`, "/weft/workspaces/t/x.txt"],
  [`see ${HERE}/a and ${HERE}`, "see /weft/workspaces/a and /weft/workspaces"],
  [`${HERE}2/t`, `${HERE}2/t`],
  ["", ""],
])("%s is sent as %s", (local, shared) => {
  expect(toShared(local, HERE)).toBe(shared);
  expect(toLocal(shared, HERE)).toBe(local);
});

it("converts inside lists and objects, and leaves other values unchanged", () => {
  const value = { a: [`${HERE}/x`, 1, null], b: { c: `-${HERE}/y` } };
  const shared = toShared(value, HERE);
  expect(shared).toEqual({ a: ["/weft/workspaces/x", 1, null], b: { c: "-/weft/workspaces/y" } });
  expect(toLocal(shared, HERE)).toEqual(value);
  const other = { a: [true, "no path"] };
  expect(toShared(other, HERE)).toBe(other);
  expect(toShared(7, HERE)).toBe(7);
});

it("converts any value back to the original", () => {
  const values = fc.jsonValue().filter((value) => !JSON.stringify(value).includes("/weft/workspaces"));
  return fc.assert(
    fc.asyncProperty(values, async (value) => {
      expect(toLocal(toShared(value, "/w"), "/w")).toEqual(value);
    }),
  );
});
