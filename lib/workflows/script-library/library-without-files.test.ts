import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { functions, callables as whole } from "./library.ts";
import type { FunctionContext } from "./library-types.ts";
import { callables } from "./library-without-files.ts";
import { aliasOf, WORKSPACE_FUNCTIONS } from "./workspace-functions.ts";

const folder = mkdtempSync(join(tmpdir(), "weft-without-files-"));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A context that records access to the workspace and commands. */
function watchedContext(): { readonly context: FunctionContext; readonly asked: string[] } {
  const asked: string[] = [];
  const context: FunctionContext = {
    get cwd() {
      asked.push("cwd");
      return folder;
    },
    env: {},
    token: "step",
    emitEvent: () => {},
    log: () => {},
    skip: () => {},
    exec: () => {
      asked.push("exec");
      return { stdout: "", failure: "none here" };
    },
    sleep: () => {},
    ask: (what) => {
      if (what === "ssh") asked.push("ssh");
      throw new Error("nobody is asked in this test");
    },
    await: () => {
      throw new Error("nothing waits in this test");
    },
  };
  return { context, asked };
}

/** Relative paths, so that a function that opens one must resolve it. Together they suit every function. */
const ARGUMENTS: readonly (readonly unknown[])[] = [
  ["sub/one", "sub/two", "sub/three", "sub/four", "sub/five"],
  ["https://a.example/x.git", "inner", "sub/out"],
  ["sub/one", 2, "sub/out"],
  ["sub/one", ",", 2, "sub/out"],
  ["sub/one", "sub/two", { a: "b" }],
  ["s/a/b/", "sub/one", "sub/two"],
  ["10.0.0.1"],
];

function call(library: typeof callables, name: string): { asked: string[]; failure: string } {
  const { context, asked } = watchedContext();
  let failure = "";
  for (const args of ARGUMENTS) {
    try {
      library.get(name)?.run(args, context);
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
    }
  }
  return { asked, failure };
}

const names = Object.keys(functions);

describe("the library without files", () => {
  test("has every function, by every spelling", () => {
    expect([...callables.keys()].sort()).toEqual([...whole.keys()].sort());
  });

  test.each(names)("knows whether %s accesses the workspace", (name) => {
    expect(call(whole, name).asked.length > 0).toBe(WORKSPACE_FUNCTIONS.has(name));
  });

  test.each(names)("rejects %s with a reason if it needs files", (name) => {
    for (const spelling of new Set([name, aliasOf(name)])) {
      const { asked, failure } = call(callables, spelling);
      expect(asked).toEqual([]);
      if (WORKSPACE_FUNCTIONS.has(name))
        expect(failure).toBe(`${spelling} requires a worker, because it uses files or commands`);
      else expect(failure).not.toContain("requires a worker");
    }
  });
});
