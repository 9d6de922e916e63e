import { describe, expect, test } from "vitest";
import { callables } from "../script-library/library.ts";
import { isSelfContained } from "./self-contained-scripts.ts";

describe("a script is self-contained", () => {
  test.each(["1 + 1", "[1, 2].map((n) => n * 2)", "parseInt('1')", "fetch()"])(
    "if it names no function of the library: %s",
    (code) => expect(isSelfContained(code)).toBe(true),
  );

  test.each([...callables.keys()])("not if it names %s", (name) => {
    for (const code of [`const call = ${name}; 1`, `this.${name}()`, `eval("${name}()")`])
      expect(isSelfContained(code)).toBe(false);
  });
});
