import { expect, it } from "vitest";
import { typedUrl } from "./typed-url.ts";

it.each([
  ["example.org/a b", "https://example.org/a b"],
  [" https://example.org ", "https://example.org"],
  ["localhost:3000", "https://localhost:3000"],
  ["/docs/1", "/docs/1"],
  ["ana@example.org", "mailto:ana@example.org"],
  ["mailto:ana@example.org", "mailto:ana@example.org"],
  ["tel:+33123", "tel:+33123"],
  ["javascript:alert(1)", undefined],
  ["JavaScript:alert(1)", undefined],
  ["data:text/html,x", undefined],
  ["//evil.example", undefined],
  ["a word", undefined],
  ["", undefined],
])("%j means %j", (text, url) => {
  expect(typedUrl(text)).toBe(url);
});
