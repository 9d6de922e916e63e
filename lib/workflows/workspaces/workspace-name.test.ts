import fc from "fast-check";
import { expect, it } from "vitest";
import { workspaceName } from "./workspace-name.ts";

it.each(["example.com", "a", "user@host", "A-1_b+c=d"])("%s is its own folder", (text) => {
  expect(workspaceName(text)).toBe(text);
});

it.each([
  "https://example.com/a",
  "../../etc",
  ".hidden",
  "a b",
  "a;touch x",
  "$(x)",
  "a\nb",
  "",
  "..",
  "é",
  "x".repeat(500),
])("%j becomes a safe folder name", (text) => {
  const name = workspaceName(text);
  expect(name).toMatch(/^[A-Za-z0-9][A-Za-z0-9._@+=-]{0,99}$/);
  expect(workspaceName(text)).toBe(name);
});

it("two different texts never share a folder, and every folder is a safe name", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 150 }),
      fc.string({ unit: "binary", maxLength: 150 }),
      (one, other) => {
        expect(workspaceName(one)).toMatch(/^[A-Za-z0-9][A-Za-z0-9._@+=-]{0,99}$/);
        if (one !== other) expect(workspaceName(one)).not.toBe(workspaceName(other));
      },
    ),
  );
});

it("texts with the same readable form have different names", () => {
  expect(workspaceName("a/b")).not.toBe(workspaceName("a_b"));
  expect(workspaceName("a/b")).not.toBe(workspaceName("a:b"));
});
