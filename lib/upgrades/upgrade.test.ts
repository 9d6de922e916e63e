import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { HostileOptions } from "../platform/embedded/hostile.ts";
import { isCrash, type TestDeps, testDeps } from "../testing/test-deps.ts";
import { FIRST_START_KEY, serviceTable } from "../workflows/installation/table.ts";
import type { Migration } from "./migrations.ts";
import { checkStoredRelease, RELEASE_KEY, type ReleaseState, releaseTable } from "./release-state.ts";
import { LEASE_MS, upgradeData } from "./upgrade.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const stored = async () => test.deps.tables.get(releaseTable, RELEASE_KEY);
const store = async (mark: Omit<ReleaseState, "pk" | "sk">) => {
  await test.deps.tables.write([{ op: "put", table: releaseTable, item: { ...RELEASE_KEY, ...mark } }]);
};
const upgrade = (release: string, migrations: readonly Migration[] = [], isExclusive = true) =>
  upgradeData(test.deps, { release, isExclusive, migrations });

/** A migration of this many batches; calls `at` before each. */
function migration(
  name: string,
  release: string,
  batches: number,
  at: (batch: number) => void | Promise<void> = () => undefined,
): Migration & { readonly done: string[] } {
  const done: string[] = [];
  return {
    name,
    release,
    done,
    migrateBatch: async (_deps, position) => {
      const batch = Number(position ?? "0");
      await at(batch);
      done.push(`${name} ${batch}`);
      return batch + 1 < batches ? String(batch + 1) : undefined;
    },
  };
}

describe("stored data", () => {
  it("contains the release that stored it first", async () => {
    await upgrade("5.0.0");
    expect(await stored()).toEqual({ ...RELEASE_KEY, release: "5.0.0" });
  });

  it("without a release is of the last release before data had one", async () => {
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
  ])("is upgraded from %s to %s by the migrations of that release, each once, in order", async (from, to) => {
    await store({ release: from });
    const release = to.slice(0, 3);
    const [first, second] = [migration("first", release, 3), migration("second", release, 1)];
    const others = [migration("earlier", "4.7", 1), migration("later", "5.1", 1)];
    const order: string[] = [];
    const all = [others[0]!, first, second, others[1]!].map((each) => ({
      ...each,
      migrateBatch: async (...given: Parameters<Migration["migrateBatch"]>) => {
        const next = await each.migrateBatch(...given);
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

  it("skips fix releases without a migration", async () => {
    await store({ release: "5.0.0" });
    const own = migration("own", "5.0", 1);
    await upgrade("5.0.4", [own]);
    expect([await stored(), own.done]).toEqual([{ ...RELEASE_KEY, release: "5.0.4" }, []]);
  });

  it.each([
    ["4.6.0", "5.0.0", /of release 4\.6\.0 and this is 5\.0\.0: .* in this order: 4\.7\.0, 4\.8\.0$/],
    ["3.10.2", "5.0.0", /in this order: 4\.0\.0, 4\.1\.0, .*, 4\.8\.0$/],
    ["5.1.0", "5.0.0", /^5\.0\.0 is older than 5\.1\.0: stored data cannot be downgraded/],
    ["5.0.1", "5.0.0", /^5\.0\.0 is older than 5\.0\.1/],
  ])("of %s is rejected by %s, and stays unchanged", async (from, to, said) => {
    await store({ release: from });
    const own = migration("own", to.slice(0, 3), 1);
    await expect(upgrade(to, [own])).rejects.toThrow(said);
    expect([await stored(), own.done]).toEqual([{ ...RELEASE_KEY, release: from }, []]);
  });
});

describe("an interrupted upgrade", () => {
  it("continues with the interrupted batch, and repeats no completed one", async () => {
    await store({ release: "4.8.0" });
    const first = migration("first", "5.0", 2);
    let dies = true;
    const second = migration("second", "5.0", 4, (batch) => {
      if (batch === 2 && dies) throw new Error("killed");
    });
    await expect(upgrade("5.0.0", [first, second])).rejects.toThrow("killed");
    expect(await stored()).toMatchObject({
      release: "4.8.0",
      upgrading: "5.0.0",
      done: ["first"],
      position: "2",
    });
    dies = false;
    await upgrade("5.0.1", [first, second]);
    expect(first.done).toEqual(["first 0", "first 1"]);
    expect(second.done).toEqual(["second 0", "second 1", "second 2", "second 3"]);
    expect(await stored()).toEqual({ ...RELEASE_KEY, release: "5.0.1" });
  });

  it("blocks all other releases, including the previous one", async () => {
    await store({ release: "4.8.0" });
    const own = migration("own", "5.0", 1, () => {
      throw new Error("killed");
    });
    await expect(upgrade("5.0.0", [own])).rejects.toThrow("killed");
    await expect(upgrade("4.8.0")).rejects.toThrow(
      /is being upgraded to release 5\.0\.0: start that release again/,
    );
    await expect(upgrade("5.1.0")).rejects.toThrow(/is being upgraded to release 5\.0\.0/);
  });

  // Commits: the lease, the position and the end of each of two migrations, and the release.
  it.each([1, 2, 3, 4, 5, 6])("completes after a crash at commit %i", async (crashAtCommit) => {
    const folder = await mkdtemp(join(tmpdir(), "weft-upgrade-"));
    const reopen = async (hostile?: HostileOptions) => {
      await test.close();
      test = await testDeps({ folder, ...(hostile === undefined ? {} : { hostile }) });
    };
    try {
      await reopen();
      await store({ release: "4.8.0" });
      const batches = [migration("first", "5.0", 2), migration("second", "5.0", 2)];
      await reopen({ seed: crashAtCommit, crashAtCommit });
      const crash = await upgrade("5.0.0", batches).catch((error: unknown) => error);
      expect(isCrash(crash)).toBe(true);
      await reopen();
      await upgrade("5.0.0", batches);
      expect(await stored()).toEqual({ ...RELEASE_KEY, release: "5.0.0" });
      const done = batches.flatMap((each) => each.done);
      expect(new Set(done)).toEqual(new Set(["first 0", "first 1", "second 0", "second 1"]));
      expect(done.length).toBeLessThanOrEqual(5);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe("servers that share their data", () => {
  it("upgrade it one at a time; another one takes over if the first dies", async () => {
    await store({ release: "4.8.0" });
    const entered = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const slow = migration("own", "5.0", 2, async (batch) => {
      if (batch !== 0) return;
      entered.resolve();
      await goOn.promise;
    });
    const first = upgrade("5.0.0", [slow], false);
    await entered.promise;
    const own = migration("own", "5.0", 2);
    await expect(upgrade("5.0.0", [own], false)).rejects.toThrow(
      /Another server is upgrading the stored data/,
    );
    test.clock.advance(LEASE_MS);
    await upgrade("5.0.0", [own], false);
    expect(own.done).toEqual(["own 0", "own 1"]);
    goOn.resolve();
    await expect(first).rejects.toThrow(/has taken over/);
    expect(await stored()).toEqual({ ...RELEASE_KEY, release: "5.0.0" });
  });

  it("reject data of another release if they only serve requests, with the command that upgrades it", async () => {
    const check = (release: string) =>
      checkStoredRelease(test.deps.tables, release, "start a server on the stack");
    await check("5.0.0");
    await expect(check("5.0.1")).resolves.toBeUndefined();
    await expect(check("5.1.0")).rejects.toThrow(
      /of release 5\.0\.0 and this is 5\.1\.0: start a server on the stack, which migrates it$/,
    );
    await expect(check("5.3.0")).rejects.toThrow(/in this order: 5\.1\.0, 5\.2\.0$/);
  });
});
