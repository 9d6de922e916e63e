import { chmod, mkdir, mkdtemp, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { scanFolder } from "./folder.ts";
import { LAYERS_MAX, withChange } from "./layers.ts";
import { type WorkspaceSync, workspaceSync } from "./sync.ts";

let test: TestDeps;
let folder: string;
beforeEach(async () => {
  test = await testDeps();
  folder = await mkdtemp(join(tmpdir(), "weft-sync-"));
});
afterEach(async () => {
  await test.close();
  await rm(folder, { recursive: true, force: true });
});

interface Machine {
  readonly root: string;
  sync: WorkspaceSync;
  restart(): void;
}

function machine(name: string): Machine {
  const paths = { workspacesDir: join(folder, name), statesDir: join(folder, `${name}-states`) };
  const made: Machine = {
    root: join(folder, name, "ws"),
    sync: workspaceSync(test.deps, paths),
    restart: () => {
      made.sync = workspaceSync(test.deps, paths);
    },
  };
  return made;
}

/** Runs a step on a machine; returns the layers that the conductor stores afterwards. */
async function step(
  on: Machine,
  layers: readonly string[],
  work: (root: string) => Promise<void>,
): Promise<string[]> {
  const openWorkspace = await on.sync.open("ws", layers);
  await work(on.root);
  const change = await openWorkspace.finish();
  return change === undefined ? [...layers] : withChange(layers, change);
}

const put = async (root: string, path: string, text: string): Promise<void> => {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
};
const textAt = (on: Machine, path: string): Promise<string> => readFile(join(on.root, path), "utf8");
/** Returns the paths and their entries, without times. */
const contents = async (root: string): Promise<Record<string, string>> => {
  const entries = [...(await scanFolder(root))].map(async ([path, entry]): Promise<[string, string]> => {
    if (entry.kind === "file") return [path, `${entry.mode} ${await readFile(join(root, path), "utf8")}`];
    return [path, entry.kind === "link" ? `-> ${entry.link}` : "folder"];
  });
  return Object.fromEntries((await Promise.all(entries)).sort(([a], [b]) => (a < b ? -1 : 1)));
};

describe("a workspace on two machines", () => {
  it("has the results of both: files, changes, deletions, modes, links and empty folders", async () => {
    const [a, b] = [machine("a"), machine("b")];
    let layers = await step(a, [], async (root) => {
      await put(root, "in/one.txt", "1");
      await put(root, "in/two.txt", "2");
      await put(root, "run.sh", "#!/bin/sh\n");
      await chmod(join(root, "run.sh"), 0o755);
      await symlink("in/one.txt", join(root, "link"));
      await mkdir(join(root, "empty"));
    });
    layers = await step(b, layers, async (root) => {
      expect(await contents(root)).toEqual(await contents(a.root));
      expect(await readlink(join(root, "link"))).toBe("in/one.txt");
      expect((await stat(join(root, "run.sh"))).mode & 0o777).toBe(0o755);
      await put(root, "in/one.txt", "1 and b");
      await rm(join(root, "in/two.txt"));
      await put(root, "empty/full.txt", "x");
    });
    await step(a, layers, async (root) => {
      expect(await contents(root)).toEqual({
        "empty/full.txt": "420 x",
        "in/one.txt": "420 1 and b",
        link: "-> in/one.txt",
        "run.sh": "493 #!/bin/sh\n",
      });
    });
  });

  it("sends nothing without changes, and each content once", async () => {
    const a = machine("a");
    const layers = await step(a, [], (root) => put(root, "one", "same"));
    expect(await step(a, layers, async () => undefined)).toEqual(layers);
    await step(a, layers, (root) => put(root, "two", "same"));
    const blobKeys = await test.deps.blobs.list("workspaces/");
    expect(blobKeys.filter((key) => key.includes("/content/"))).toHaveLength(1);
    expect(blobKeys.filter((key) => key.includes("/layers/"))).toHaveLength(2);
  });

  it("reverts the changes of a step whose result was ignored", async () => {
    const [a, b] = [machine("a"), machine("b")];
    const layers = await step(a, [], async (root) => {
      await put(root, "kept", "first");
      await put(root, "gone", "first");
    });
    await step(a, layers, async (root) => {
      await put(root, "kept", "of a step that lost");
      await rm(join(root, "gone"));
    });
    const after = await step(b, layers, (root) => put(root, "more", "of b"));
    await step(a, after, async (root) => {
      expect(await contents(root)).toEqual({ gone: "420 first", kept: "420 first", more: "420 of b" });
    });
  });

  it("matches its layers after a start without stored state, and reads existing files", async () => {
    const a = machine("a");
    let layers = await step(a, [], (root) => put(root, "one", "1"));
    const before = await stat(join(a.root, "one"));
    await rm(join(folder, "a-states"), { recursive: true });
    a.restart();
    layers = await step(a, layers, (root) => put(root, "two", "2"));
    expect((await stat(join(a.root, "one"))).ino).toBe(before.ino);
    const b = machine("b");
    await step(b, layers, async (root) => {
      expect(await contents(root)).toEqual({ one: "420 1", two: "420 2" });
    });
  });

  it("never follows a link out of the workspace", async () => {
    const [a, b] = [machine("a"), machine("b")];
    await mkdir(join(folder, "outside"));
    const layers = await step(a, [], (root) => put(root, "sub/file", "x"));
    await step(b, layers, async () => undefined);
    await rm(join(b.root, "sub"), { recursive: true });
    await symlink(join(folder, "outside"), join(b.root, "sub"));
    const after = await step(a, layers, (root) => put(root, "sub/file", "y"));
    await step(b, after, async () => {
      expect(await textAt(b, "sub/file")).toBe("y");
    });
    expect(await contents(join(folder, "outside"))).toEqual({});
    const evil = { "../outside/x": { sha256: "0".repeat(64), bytes: 1, mode: 0o644 } };
    await test.deps.blobs.put("workspaces/evil", JSON.stringify(evil));
    await expect(b.sync.open("ws", ["workspaces/evil"])).rejects.toThrow("not a path of a workspace");
  });

  it("keeps few layers after any number of steps", async () => {
    const [a, b] = [machine("a"), machine("b")];
    let layers: string[] = [];
    for (let n = 0; n < LAYERS_MAX * 2; n += 1)
      layers = await step(n % 2 === 0 ? a : b, layers, (root) => put(root, `${n % 7}`, String(n)));
    expect(layers.length).toBeLessThanOrEqual(LAYERS_MAX + 1);
    const c = machine("c");
    await step(c, layers, async (root) => {
      expect(await contents(root)).toEqual(await contents(b.root));
    });
  });

  it("separates the changes of two concurrent steps on one machine", async () => {
    const [a, b] = [machine("a"), machine("b")];
    const start = await step(a, [], (root) => put(root, "shared", "0"));
    const [left, right] = [await a.sync.open("ws", start), await a.sync.open("ws", start)];
    await put(a.root, "left", "l");
    const first = withChange(start, (await left.finish()) ?? {});
    await put(a.root, "right", "r");
    const layers = withChange(first, (await right.finish()) ?? {});
    await step(b, layers, async (root) => {
      expect(await contents(root)).toEqual({ left: "420 l", right: "420 r", shared: "420 0" });
    });
  });
});

describe("any steps on any of three machines", () => {
  const names = fc.constantFrom("a", "b", "d/a", "d/b", "d/e/a");
  const change = fc.oneof(
    fc.record({ put: names, text: fc.string({ maxLength: 3 }) }),
    fc.record({ remove: fc.constantFrom("a", "b", "d", "d/a", "d/e") }),
    fc.record({ folder: fc.constantFrom("d/e", "f") }),
  );
  type Change = { put?: string; text?: string; remove?: string; folder?: string };
  const steps = fc.array(
    fc.record({
      on: fc.nat(2),
      counts: fc.nat(4).map((n) => n > 0),
      changes: fc.array(change, { maxLength: 4 }),
    }),
    { maxLength: 10 },
  );
  const carryOut = async (root: string, changes: readonly Change[]): Promise<void> => {
    for (const { put: file, text = "", remove, folder: made } of changes) {
      if (remove !== undefined) await rm(join(root, remove), { recursive: true, force: true });
      if (made !== undefined) await mkdir(join(root, made), { recursive: true });
      if (file !== undefined) await put(root, file, text);
    }
  };

  it("have the same result as on one machine", async () => {
    let round = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (plannedSteps) => {
        round += 1;
        const machines = [0, 1, 2].map((n) => machine(`${round}-${n}`));
        const plain = join(folder, `${round}-plain`);
        await mkdir(plain);
        let layers: string[] = [];
        for (const { on, counts, changes } of plannedSteps) {
          const after = await step(machines[on] as Machine, layers, (root) => carryOut(root, changes));
          if (!counts) continue;
          layers = after;
          await carryOut(plain, changes);
        }
        const fresh = machine(`${round}-fresh`);
        for (const one of [...machines, fresh]) {
          await step(one, layers, async (root) => {
            expect(await contents(root)).toEqual(await contents(plain));
          });
        }
      }),
      { numRuns: 40 },
    );
  });
});
