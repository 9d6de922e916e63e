import { expect, test } from "vitest";
import { PageSize } from "./page-size.ts";

const KIB = 1024;

test("reads a hundred small records together, and fewer large ones, so that pages have about the same size", () => {
  const size = new PageSize();
  expect(size.records).toBe(100);
  size.note(200);
  expect(size.records).toBe(100);
  size.note(64 * KIB);
  expect(size.records).toBe(8);
  size.note(400 * KIB);
  expect(size.records).toBe(1);
});

test("increases again when records are small again", () => {
  const size = new PageSize();
  size.note(400 * KIB);
  for (let page = 0; page < 50; page += 1) size.note(300);
  expect(size.records).toBe(100);
});
