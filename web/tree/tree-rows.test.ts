import { describe, expect, it } from "vitest";
import type { Document } from "../api/documents.ts";
import { actionOfKey, rowByTypedText } from "./tree-keys.ts";
import { keyOfRow, pathTo, rowsOfTree, TOP, type TreeLevel, type TreeRow } from "./tree-rows.ts";

const document = (id: string, numchild = 0): Document => ({ id, title: id, numchild }) as Document;
const level = (count: number, ...documents: Document[]): TreeLevel => ({
  documents,
  count,
  isPending: false,
});

const LEVELS = new Map([
  [TOP, level(3, document("apple", 2), document("banana"), document("cherry", 1))],
  ["apple", level(2, document("avocado"), document("Äpfel"))],
]);
const rows = rowsOfTree(LEVELS, (id) => id === "apple", []);
const keys = (shown: readonly TreeRow[]): string[] => shown.map(keyOfRow);

describe("the rows of a tree", () => {
  it("are the expanded levels from top to bottom", () => {
    expect(keys(rows)).toEqual(["apple", "avocado", "Äpfel", "banana", "cherry"]);
    expect(rows.map((row) => row.level)).toEqual([1, 2, 2, 1, 1]);
    expect(rows.map((row) => row.kind === "document" && row.isExpanded)).toEqual([
      true,
      undefined,
      undefined,
      undefined,
      false,
    ]);
  });

  it("end with a row for what is not loaded, also of a level of which nothing is known yet", () => {
    const some = new Map([[TOP, level(250, document("a"), document("b", 9))]]);
    const shown = rowsOfTree(some, (id) => id === "b", []);
    expect(keys(shown)).toEqual(["a", "b", "more-b", "more-"]);
    expect(shown.map((row) => (row.kind === "more" ? row.count : undefined))).toEqual([
      undefined,
      undefined,
      0,
      248,
    ]);
  });

  it("contain the open document, even if its part of the level is not loaded", () => {
    const some = new Map([
      [TOP, level(250, document("a"))],
      ["z", level(200, document("z1"))],
    ]);
    const shown = rowsOfTree(some, (id) => id === "z", [document("z", 200), document("z150")]);
    expect(keys(shown)).toEqual(["a", "z", "z1", "z150", "more-z", "more-"]);
  });

  it("contain a document once, if a list has changed between its pages", () => {
    const twice = new Map([[TOP, level(3, document("a"), document("b"), document("a"))]]);
    expect(keys(rowsOfTree(twice, () => false, []))).toEqual(["a", "b"]);
  });

  it("lead to a document of the tree that the API returns", () => {
    const tree = {
      ...document("a"),
      children: [document("b"), { ...document("c"), children: [document("d")] }],
    };
    expect(pathTo(tree, "d").map(({ id }) => id)).toEqual(["a", "c", "d"]);
    expect(pathTo(tree, "x")).toEqual([]);
  });
});

describe("a key in the tree", () => {
  const press = (active: string, key: string, others = {}) =>
    actionOfKey(rows, active, { key, altKey: false, shiftKey: false, ...others });

  it("leads through it as the tree pattern says", () => {
    expect(press("apple", "ArrowDown")).toEqual({ type: "focus", key: "avocado" });
    expect(press("apple", "ArrowUp")).toBeUndefined();
    expect(press("banana", "Home")).toEqual({ type: "focus", key: "apple" });
    expect(press("banana", "End")).toEqual({ type: "focus", key: "cherry" });
    expect(press("cherry", "ArrowRight")).toEqual({ type: "expand", id: "cherry" });
    expect(press("apple", "ArrowRight")).toEqual({ type: "focus", key: "avocado" });
    expect(press("avocado", "ArrowRight")).toBeUndefined();
    expect(press("Äpfel", "ArrowLeft")).toEqual({ type: "focus", key: "apple" });
    expect(press("apple", "ArrowLeft")).toEqual({ type: "collapse", id: "apple" });
    expect(press("banana", "Enter")).toMatchObject({ type: "open", row: { document: { id: "banana" } } });
    expect(press("banana", "F10", { shiftKey: true })).toMatchObject({ type: "menu" });
    expect(press("banana", "ArrowUp", { altKey: true })).toMatchObject({ type: "move", by: -1 });
    expect(press("banana", "Escape")).toBeUndefined();
  });

  it("finds titles by what is typed, from the next row on", () => {
    const find = (active: string, typed: string): string | undefined => {
      const row = rowByTypedText(rows, active, typed, (one) =>
        one.kind === "document" ? (one.document.title ?? "") : "",
      );
      return row === undefined ? undefined : keyOfRow(row);
    };
    expect(find("apple", "a")).toBe("avocado");
    expect(find("avocado", "a")).toBe("apple");
    expect(find("avocado", "av")).toBe("avocado");
    expect(find("avocado", "C")).toBe("cherry");
    expect(find("avocado", "x")).toBeUndefined();
  });
});
