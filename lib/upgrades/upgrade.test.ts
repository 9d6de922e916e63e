import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { HostileOptions } from "../platform/embedded/hostile.ts";
import { isCrash, type TestDeps, testDeps } from "../testing/test-deps.ts";
import { FIRST_START_KEY, serviceTable } from "../workflows/installation/table.ts";
import { checkMark, markTable, RELEASE_KEY, type ReleaseMark } from "./mark.ts";
import type { Migration } from "./migrations.ts";
import { HOLD_MS, upgradeData } from "./upgrade.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const stored = async () => test.deps.tables.get(markTable, RELEASE_KEY);
const store = async (mark: Omit<ReleaseMark, "pk" | "sk">) => {
  await test.deps.tables.write([{ op: "put", table: markTable, item: { ...RELEASE_KEY, ...mark } }]);
};
const upgrade = (release: string, migrations: readonly Migration[] = [], alone = true) =>
  upgradeData(test.deps, { release, alone, migrations });

/** Of so many pieces; `at` is called before each. */
function migration(
  name: string,
  release: string,
  pieces: number,
  at: (piece: number) => void | Promise<void> = () => undefined,
): Migration & { readonly done: string[] } {
  const done: string[] = [];
  return {
    ...{ name, release, done },
    piece: async (_deps, place) => {
      const piece = Number(place ?? "0");
      await at(piece);
      done.push(`${name} ${piece}`);
      return piece + 1 < pieces ? String(piece + 1) : undefined;
    },
  };
}

describe("stored data", () => {
  it("carries the release that it was first stored by", async () => {
    await upgrade("5.0.0");
    expect(await stored()).toEqual({ ...RELEASE_KEY, release: "5.0.0" });
  });

  it("of the time before it carried one is of the release of that time", async () => {
    await test.deps.tables.write([
      { op: "put", table: serviceTable, item: { ...FIRST_START_KEY, at: "2026-01-01T00:00:00.000Z" } },
    ]);
    const next = migration("next", "5.1", 1);
    await upgrade("5.1.0", [next]);
    expect(next.done).toEqual(["next 0"]);
  });

  it.each([
    ["4.8.6", "5.0.0"],
    ["4.8.0", "5.0.3"],
    ["3.10.0", "4.0.0"],
  ])("of %s is brought to %s by the migrations of that release, each once, in order", async (from, to) => {
    await store({ release: from });
    const release = to.slice(0, 3);
    const [first, second] = [migration("first", release, 3), migration("second", release, 1)];
    const others = [migration("earlier", "4.7", 1), migration("later", "5.1", 1)];
    const order: string[] = [];
    const all = [others[0]!, first, second, others[1]!].map((each) => ({
      ...each,
      piece: async (...given: Parameters<Migration["piece"]>) => {
        const next = await each.piece(...given);
        order.push(each.done.at(-1) ?? "");
        return next;
      },
    }));
    await upgrade(to, all);
    expect(order).toEqual(["first 0", "first 1", "first 2", "second 0"]);
    expect(await stored()).toEqual({ ...RELEASE_KEY, release: to });
    await upgrade(to, all);
    expect(order).toHaveLength(4);
  });

  it("passes over fix releases, with no migration", async () => {
    await store({ release: "5.0.0" });
    const own = migration("own", "5.0", 1);
    await upgrade("5.0.4", [own]);
    expect([await stored(), own.done]).toEqual([{ ...RELEASE_KEY, release: "5.0.4" }, []]);
  });

  it.each([
    ["4.6.0", "5.0.0", /of release 4\.6\.0 and this is 5\.0\.0: .* in this order: 4\.7\.0, 4\.8\.0$/],
    ["3.10.2", "5.0.0", /in this order: 4\.0\.0, 4\.1\.0, .*, 4\.8\.0$/],
    ["5.1.0", "5.0.0", /^5\.0\.0 is older than 5\.1\.0: stored data does not go back/],
    ["5.0.1", "5.0.0", /^5\.0\.0 is older than 5\.0\.1/],
  ])("of %s is not taken by %s, and stays as it is", async (from, to, said) => {
    await store({ release: from });
    const own = migration("own", to.slice(0, 3), 1);
    await expect(upgrade(to, [own])).rejects.toThrow(said);
    expect([await stored(), own.done]).toEqual([{ ...RELEASE_KEY, release: from }, []]);
  });
});

describe("an upgrade that was stopped", () => {
  it("goes on with the piece that it was at, and does none again that was done", async () => {
    await store({ release: "4.8.0" });
    const first = migration("first", "5.0", 2);
    let dies = true;
    const second = migration("second", "5.0", 4, (piece) => {
      if (piece === 2 && dies) throw new Error("killed");
    });
    await expect(upgrade("5.0.0", [first, second])).rejects.toThrow("killed");
    expect(await stored()).toMatchObject({
      release: "4.8.0",
      upgrading: "5.0.0",
      done: ["first"],
      place: "2",
    });
    dies = false;
    await upgrade("5.0.1", [first, second]);
    expect(first.done).toEqual(["first 0", "first 1"]);
    expect(second.done).toEqual(["second 0", "second 1", "second 2", "second 3"]);
    expect(await stored()).toEqual({ ...RELEASE_KEY, release: "5.0.1" });
  });

  it("lets no other release have the data, the one before neither", async () => {
    await store({ release: "4.8.0" });
    const own = migration("own", "5.0", 1, () => {
      throw new Error("killed");
    });
    await expect(upgrade("5.0.0", [own])).rejects.toThrow("killed");
    await expect(upgrade("4.8.0")).rejects.toThrow(/is on its way to release 5\.0\.0: start that one again/);
    await expect(upgrade("5.1.0")).rejects.toThrow(/is on its way to release 5\.0\.0/);
  });

  // It is taken, a place and an end of each of two migrations are written, and the release.
  it.each([1, 2, 3, 4, 5, 6])("comes to its end after a crash at commit %i", async (crashAtCommit) => {
    const folder = await mkdtemp(join(tmpdir(), "weft-upgrade-"));
    const reopen = async (hostile?: HostileOptions) => {
      await test.close();
      test = await testDeps({ folder, ...(hostile === undefined ? {} : { hostile }) });
    };
    try {
      await reopen();
      await store({ release: "4.8.0" });
      const pieces = [migration("first", "5.0", 2), migration("second", "5.0", 2)];
      await reopen({ seed: crashAtCommit, crashAtCommit });
      const crash = await upgrade("5.0.0", pieces).catch((error: unknown) => error);
      expect(isCrash(crash)).toBe(true);
      await reopen();
      await upgrade("5.0.0", pieces);
      expect(await stored()).toEqual({ ...RELEASE_KEY, release: "5.0.0" });
      const done = pieces.flatMap((each) => each.done);
      expect(new Set(done)).toEqual(new Set(["first 0", "first 1", "second 0", "second 1"]));
      expect(done.length).toBeLessThanOrEqual(5);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe("servers that share their data", () => {
  it("upgrade it one at a time; another takes over when the first has gone", async () => {
    await store({ release: "4.8.0" });
    const entered = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const slow = migration("own", "5.0", 2, async (piece) => {
      if (piece !== 0) return;
      entered.resolve();
      await goOn.promise;
    });
    const first = upgrade("5.0.0", [slow], false);
    await entered.promise;
    const own = migration("own", "5.0", 2);
    await expect(upgrade("5.0.0", [own], false)).rejects.toThrow(
      /Another server is bringing the stored data/,
    );
    test.clock.advance(HOLD_MS);
    await upgrade("5.0.0", [own], false);
    expect(own.done).toEqual(["own 0", "own 1"]);
    goOn.resolve();
    await expect(first).rejects.toThrow(/has taken over/);
    expect(await stored()).toEqual({ ...RELEASE_KEY, release: "5.0.0" });
  });

  it("that only serve say what brings the data to their release", async () => {
    const check = (release: string) => checkMark(test.deps.tables, release, "start a server on the stack");
    await check("5.0.0");
    await expect(check("5.0.1")).resolves.toBeUndefined();
    await expect(check("5.1.0")).rejects.toThrow(
      /of release 5\.0\.0 and this is 5\.1\.0: start a server on the stack, which migrates it$/,
    );
    await expect(check("5.3.0")).rejects.toThrow(/in this order: 5\.1\.0, 5\.2\.0$/);
  });
});
