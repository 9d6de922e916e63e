import { expect, it } from "vitest";
import { createRedactor } from "../redaction/redaction.ts";
import { redactJson } from "./redact-json.ts";

it("replaces secrets in JSON and keeps it valid, numbers and keys included", () => {
  const { add, redact } = createRedactor();
  add(['abc"', "12345678", "the-key"]);
  const value = { "the-key": "abc\\", list: ["abc", 'abc"', 12345678, 1, null], x: "abc" };
  expect(redactJson(value, redact)).toEqual({
    "***": "abc\\",
    list: ["abc", "***", "***", 1, null],
    x: "abc",
  });
  expect(redactJson({ a: 1 }, redact)).toEqual({ a: 1 });
});
