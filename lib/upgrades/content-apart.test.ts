import { fork } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Key, TableSpec } from "../platform/tables.ts";
import { contentApart } from "./content-apart.ts";
import { markTable, RELEASE_KEY } from "./mark.ts";
import { openUpgradePlatform } from "./test-upgrade-platform.ts";
import { upgradeData } from "./upgrade.ts";

interface Row extends Key {
  readonly [name: string]: unknown;
}
const documents: TableSpec<Row> = { name: "documents", indexes: {} };
const versions: TableSpec<Row> = { name: "document-versions", indexes: {} };

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "weft-content-"));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const COUNT = 60;
const idOf = (at: number) => `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`;
const stateOf = (at: number) => Buffer.from(`state of ${at}`.repeat(at + 1)).toString("base64");
const contentOf = (at: number): unknown => {
  if (at === 0) return "";
  if (at === 1) return null;
  if (at === 2) return undefined;
  return at === 3 ? "not base64 at all" : stateOf(at);
};

/** A folder as 4.8 left it. */
async function store(): Promise<void> {
  const platform = await openUpgradePlatform(dataDir);
  const { tables } = platform.ports;
  await tables.write([{ op: "put", table: markTable, item: { ...RELEASE_KEY, release: "4.8.6" } }]);
  for (let at = 0; at < COUNT; at += 1) {
    const content = contentOf(at);
    const item = {
      ...{ pk: idOf(at), sk: "document", id: idOf(at), title: `Document ${at}`, creator: "ada" },
      ...{ updated_at: "2026-03-01T12:00:00.000Z", ...(content === undefined ? {} : { content }) },
    };
    await tables.write([{ op: "put", table: documents, item }]);
  }
  await platform.close();
}

async function checkAll(): Promise<void> {
  const { ports, close } = await openUpgradePlatform(dataDir);
  try {
    expect(await ports.tables.get(markTable, RELEASE_KEY)).toEqual({ ...RELEASE_KEY, release: "5.0.0" });
    for (let at = 0; at < COUNT; at += 1) {
      const row = await ports.tables.get(documents, { pk: idOf(at), sk: "document" });
      const { items } = await ports.tables.query(versions, { pk: idOf(at) });
      expect(row).toMatchObject({ title: `Document ${at}`, updated_at: "2026-03-01T12:00:00.000Z" });
      if (at < 3) {
        expect([Object.hasOwn(row ?? {}, "content"), items]).toEqual([false, []]);
        continue;
      }
      const bytes = at === 3 ? Buffer.from("not base64 at all") : Buffer.from(stateOf(at), "base64");
      const said = {
        ...{ kind: at === 3 ? "plain" : "yjs", bytes: bytes.length },
        etag: createHash("md5").update(bytes).digest("hex"),
      };
      const version = items[0]?.sk ?? "";
      expect(version).toMatch(/^019ca945-0a00-7[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(items).toEqual([
        { pk: idOf(at), sk: version, ...said, last_modified: "2026-03-01T12:00:00.000Z", author: "ada" },
      ]);
      expect(row?.["content"]).toEqual({ version, ...said, saved_at: "2026-03-01T12:00:00.000Z" });
      const blobs = await ports.blobs.list(`documents/${idOf(at)}/`);
      expect(blobs).toEqual([`documents/${idOf(at)}/${version}`]);
      expect(Buffer.from((await ports.blobs.get(blobs[0] ?? "")) ?? []).equals(bytes)).toBe(true);
    }
  } finally {
    await close();
  }
}

describe("content inside of documents", () => {
  it("becomes the first of their versions, and nothing else of them changes", async () => {
    await store();
    const { ports, close } = await openUpgradePlatform(dataDir);
    await upgradeData(ports, { release: "5.0.0", alone: true, migrations: [contentApart] });
    await close();
    await checkAll();
  });

  it.each([3, 26, 55])(
    "comes out whole where the process is killed at blob %i and started again",
    async (killAt) => {
      await store();
      const child = fork(fileURLToPath(new URL("./test-upgrade-child.ts", import.meta.url)), [
        dataDir,
        String(killAt),
      ]);
      const signal = await new Promise((resolve) => child.once("exit", (_, by) => resolve(by)));
      expect(signal).toBe("SIGKILL");

      const { ports, close } = await openUpgradePlatform(dataDir);
      const midway = await ports.tables.get(markTable, RELEASE_KEY);
      expect(midway).toMatchObject({ release: "4.8.6", upgrading: "5.0.0" });
      await upgradeData(ports, { release: "5.0.0", alone: true, migrations: [contentApart] });
      await close();
      await checkAll();
    },
    20_000,
  );
});
