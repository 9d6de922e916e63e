import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type Docker from "dockerode";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "../../platform/embedded/test-platform.ts";
import { LABELS } from "./docker.ts";
import { Leftovers } from "./leftovers.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-leftovers-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

interface Container {
  readonly owner: string;
  readonly run: string;
  readonly persistent?: boolean;
}

/** Leftovers of an engine with these containers, by name; `idleMs` is optional. */
function leftovers(containers: Record<string, Container>, idleMs?: number) {
  const asked: unknown[] = [];
  const engine = {
    listContainers: async (options: unknown) => {
      asked.push(options);
      return Object.entries(containers).map(([Id, { owner, run, persistent }]) => ({
        Id,
        Labels: {
          [LABELS.owner]: owner,
          [LABELS.run]: run,
          ...(persistent === true ? { [LABELS.persistent]: "true" } : {}),
        },
      }));
    },
    getContainer: (id: string) => ({
      remove: async () => {
        delete containers[id];
      },
    }),
  };
  const markPath = join(folder, "mark");
  const made = new Leftovers({
    owner: { install: "i", owner: "me" },
    markPath,
    isOver: async (run) => run === "over",
    docker: engine as unknown as Docker,
    log: silentLog,
    idleMs,
  });
  return { leftovers: made, markPath, asked, left: () => Object.keys(containers) };
}

describe("containers without an owner", () => {
  it("are removed if their process is dead or their run is finished; others stay", async () => {
    const all = leftovers({
      "of a dead process": { owner: "dead", run: "going" },
      "of a run that is over": { owner: "me", run: "over" },
      "at work": { owner: "me", run: "going" },
      "kept, over": { owner: "dead", run: "over", persistent: true },
      "kept, going": { owner: "dead", run: "going", persistent: true },
    });
    await all.leftovers.sweep();
    expect(all.left()).toEqual(["at work", "kept, going"]);
    expect(all.asked).toMatchObject([{ all: true, filters: { label: ["weft.install=i"] } }]);
    await all.leftovers.close();
  });

  it("are searched until there are none, also by the next process", async () => {
    const all = leftovers({ one: { owner: "me", run: "over" } });
    const release = all.leftovers.use("over");
    expect(existsSync(all.markPath)).toBe(true);
    await all.leftovers.sweep();
    expect([all.left(), existsSync(all.markPath)]).toEqual([[], true]);
    release();
    await all.leftovers.close();
    expect(existsSync(all.markPath)).toBe(false);
  });

  it("are removed after a long idle time if they are persistent and the end of runs is unknown", async () => {
    const all = leftovers({ kept: { owner: "me", run: "going", persistent: true } }, 0);
    const release = all.leftovers.use("going");
    await all.leftovers.sweep();
    expect(all.left()).toEqual(["kept"]);
    release();
    await all.leftovers.sweep();
    expect(all.left()).toEqual([]);
    await all.leftovers.close();
  });
});
