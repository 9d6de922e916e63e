import { expect, test } from "vitest";
import { PlainExpressions } from "./plain-expressions.ts";
import { startTestRunner } from "./test-runner.ts";

const VARIABLES = { a: 3, text: "x", list: [1, { deep: [true] }], nothing: null };

test.each([
  "1 + 1",
  "a > 2 && text == 'x'",
  "list[1].deep[0] ? a * 2 : 'no'",
  "nothing.x",
  "nothing?.x",
  "list + text",
  "'deep' in text",
  "((a)",
  "text.constructor",
  "undefined",
  "'\\u0041' + \"\\x42\"",
])("%s has the same outcome as in a thread, and leaves nothing behind", async (code) => {
  const runner = await startTestRunner();
  const expressions = new PlainExpressions();
  const request = { code, variables: VARIABLES, cwd: "", env: {}, timeoutMs: 1_000, isolate: "", token: "" };
  try {
    const outcome = await expressions.run(request);
    expect(outcome).toBeDefined();
    // A semicolon makes it a statement, which a thread evaluates.
    expect(await runner.script(`;${code}`, { variables: VARIABLES })).toEqual(outcome);
    expect(await expressions.run({ ...request, code: "typeof a", variables: { b: 1 } })).toBeUndefined();
    expect(await expressions.run({ ...request, code: "b", variables: { b: 1 } })).toMatchObject({ value: 1 });
  } finally {
    await runner.close();
  }
});

test("a cancelled one, and one with long variables, is left to a thread", async () => {
  const expressions = new PlainExpressions();
  const request = {
    code: "a",
    variables: { a: 1 },
    cwd: "",
    env: {},
    timeoutMs: 1_000,
    isolate: "",
    token: "",
  };
  expect(await expressions.run({ ...request, signal: AbortSignal.abort() })).toBeUndefined();
  expect(await expressions.run({ ...request, variables: { a: "x".repeat(5_000) } })).toBeUndefined();
  expect(await expressions.run(request)).toMatchObject({ ok: true, value: 1 });
});
