import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { eventKey, eventLogTable } from "../../events/log/table.ts";
import { emitEvents } from "../../events/publish.ts";
import type { CallHost } from "../../platform/scripts.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { readLog, storeWorkflow } from "../../testing/test-workflows.ts";
import { getRun } from "../runs/read.ts";
import { startRun } from "../runs/start.ts";
import { handleHostCall } from "./host-calls.ts";

let open: TestDeps;
afterEach(() => open.close());

const stop = new AbortController().signal;
const inWorkspace = (name: string, ...path: string[]) => join(open.folder, "workspaces", name, ...path);

/** Runs a script in the workspace `own`; a workspace `acme` has a file and an asset. Returns the script's result. */
async function runScript(
  work: (ask: (input: object) => Promise<unknown>) => Promise<unknown>,
  acme: "filled" | "empty" = "filled",
): Promise<unknown> {
  let outcome: unknown;
  open = await testDeps({
    script: async ({ callHost: ask }) => {
      outcome = await work((input) => (ask as CallHost)("snapshot", input, stop)).catch(String);
      return {};
    },
  });
  for (const name of ["acme", "own"]) await mkdir(inWorkspace(name), { recursive: true });
  await writeFile(inWorkspace("acme", "hosts.txt"), "a.example\n");
  const asset = { asset_value: "a.example" };
  const draft = { topic: "asset.discovered", source: "test", effect: "asset" } as const;
  if (acme === "filled") await emitEvents(open.deps, [{ ...draft, workspace: "acme", data: asset }]);
  await storeWorkflow(
    open.deps,
    "name: m\nsteps:\n  - {name: s, type: function, function: \"snapshot_import('x')\"}\n",
  );
  const { run_id } = await startRun(open.deps, { module: "m", target: "t", workspace: "own" });
  await open.drain();
  expect((await getRun(open.deps, run_id)).status).toBe("completed");
  return outcome;
}

describe("a script", () => {
  it("exports a workspace to a file, and imports it over the current state", async () => {
    const outcome = await runScript(async (ask) => {
      const path = await ask({ of: "export", workspace: "acme", dest: "out/acme.zip" });
      await writeFile(inWorkspace("acme", "hosts.txt"), "changed\n");
      await writeFile(inWorkspace("acme", "more.txt"), "more\n");
      return [path, await ask({ of: "import", file: "out/acme.zip" })];
    });
    expect(outcome).toEqual([inWorkspace("own", "out", "acme.zip"), "acme"]);
    expect(await readFile(inWorkspace("acme", "hosts.txt"), "utf8")).toBe("a.example\n");
    expect(existsSync(inWorkspace("acme", "more.txt"))).toBe(false);
    expect(await readdir(inWorkspace("own", "out"))).toEqual(["acme.zip"]);
    expect((await readLog(open.deps, { topic: "asset.discovered" })).total).toBe(1);
  });

  it("gets the name of a stored snapshot, and imports it by that name", async () => {
    const outcome = await runScript(async (ask) => {
      const name = await ask({ of: "export", workspace: "acme" });
      return [name, await ask({ of: "import", name })];
    });
    expect(outcome).toEqual([expect.stringMatching(/^acme_\d{8}T\d{6}Z\.zip$/), "acme"]);
  });

  it("that imports records is the cause of their events, with one more hop", async () => {
    await runScript((ask) => ask({ of: "export", workspace: "acme", dest: "a.zip" }));
    const bytes = await readFile(inWorkspace("own", "a.zip"));
    await open.close();
    const outcome = await runScript(async (ask) => {
      await writeFile(inWorkspace("own", "a.zip"), bytes);
      return ask({ of: "import", file: "a.zip" });
    }, "empty");
    expect(outcome).toBe("acme");
    const { records } = await readLog(open.deps, { topic: "asset.discovered" });
    expect(records).toMatchObject([{ workspace: "acme", source: "snapshot", workflow_name: "m" }]);
    const eventId = records[0]?.event_id ?? "";
    expect(await open.deps.tables.get(eventLogTable, eventKey(eventId))).toMatchObject({ hop: 1 });
  });

  it.each([
    [
      "its own workspace",
      async (ask: (input: object) => Promise<unknown>) => {
        const name = await ask({ of: "export", workspace: "" });
        return ask({ of: "import", name });
      },
      /cannot import its own workspace/,
    ],
    [
      "a file outside of the workspace",
      (ask) => ask({ of: "import", file: "/etc/hosts" }),
      /outside of the workspace/,
    ],
    [
      "an invalid snapshot",
      async (ask) => {
        await writeFile(inWorkspace("own", "x.zip"), "no zip");
        return ask({ of: "import", file: "x.zip" });
      },
      /must be a zip archive/,
    ],
    ["a folder", (ask) => ask({ of: "import", file: "." }), /is not a file/],
    ["a name with a path", (ask) => ask({ of: "import", name: "../secrets.env" }), /must be the name/],
    ["an unknown snapshot", (ask) => ask({ of: "import", name: "none.zip" }), /not found/],
  ] as [string, (ask: (input: object) => Promise<unknown>) => Promise<unknown>, RegExp][])(
    "does not import %s",
    async (_what, work, error) => {
      expect(
        await runScript(async (ask) => {
          await writeFile(inWorkspace("own", "kept.txt"), "kept");
          return work(ask);
        }),
      ).toMatch(error);
      expect(await readFile(inWorkspace("own", "kept.txt"), "utf8")).toBe("kept");
    },
  );

  it.each(["/nowhere/x.zip", "../../x.zip", "link/x.zip", "link.zip"])(
    "writes no snapshot to %s",
    async (dest) => {
      const outcome = await runScript(async (ask) => {
        await symlink("/etc", inWorkspace("own", "link"));
        await symlink("/etc/x.zip", inWorkspace("own", "link.zip"));
        return ask({ of: "export", workspace: "acme", dest });
      });
      expect(outcome).toMatch(/outside of the workspace|broken link/);
      expect([existsSync("/etc/x.zip"), existsSync("/nowhere")]).toEqual([false, false]);
    },
  );

  it("gets an error for an unknown workspace, and if snapshots are unavailable", async () => {
    expect(await runScript((ask) => ask({ of: "export", workspace: "none" }))).toMatch(/Workspace not found/);
    const attempt = { deps: { ...open.deps, snapshots: undefined } };
    await expect(handleHostCall(attempt as never, "snapshot", { of: "export" }, stop)).rejects.toThrow(
      "POST /snapshots",
    );
  });
});
