import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { functions, callables as whole } from "./library.ts";
import type { FunctionContext } from "./library-types.ts";
import { callables } from "./library-without-files.ts";
import { aliasOf } from "./names.ts";
import { WORKSPACE_FUNCTIONS } from "./workspace-functions.ts";

const folder = mkdtempSync(join(tmpdir(), "weft-without-files-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A context that notes who asks for the workspace or a command. */
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
    exec: () => {
      asked.push("exec");
      return { stdout: "", failure: "none here" };
    },
    sleep: () => {},
  };
  return { context, asked };
}

function call(library: typeof callables, name: string): { asked: string[]; failure: string } {
  const { context, asked } = watchedContext();
  try {
    // Relative, so that a function that opens it has to ask where it is.
    library.get(name)?.run(["sub/one", "sub/two", "sub/three", "sub/four", "sub/five"], context);
    return { asked, failure: "" };
  } catch (error) {
    return { asked, failure: error instanceof Error ? error.message : String(error) };
  }
}

const names = Object.keys(functions);

describe("the library without files", () => {
  test("has every function, by every spelling", () => {
    expect([...callables.keys()]).toEqual([...whole.keys()]);
  });

  test.each(names)("knows whether %s asks for the workspace", (name) => {
    expect(call(whole, name).asked.length > 0).toBe(WORKSPACE_FUNCTIONS.has(name));
  });

  test.each(names)("lets %s touch nothing, and says why", (name) => {
    for (const spelling of new Set([name, aliasOf(name)])) {
      const { asked, failure } = call(callables, spelling);
      expect(asked).toEqual([]);
      if (WORKSPACE_FUNCTIONS.has(name))
        expect(failure).toBe(`${spelling} needs a worker: it touches files or starts commands`);
      else expect(failure).not.toContain("worker");
    }
  });
});
