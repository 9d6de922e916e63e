import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import type { Key, TableSpec } from "#lib/platform/tables.ts";
import { call } from "#lib/testing/test-calls.ts";
import { testDeps } from "#lib/testing/test-deps.ts";
import { openUpgradePlatform } from "#lib/upgrades/test-upgrade-platform.ts";
import { upgradeData } from "#lib/upgrades/upgrade.ts";
import { route as get } from "./get.ts";

/** Four public documents, the content of three of them inside: states of Yjs with a paragraph that says the title. */
const FIXTURE = fileURLToPath(new URL("../../../lib/upgrades/fixtures/4.8.6", import.meta.url));
const CONTENT = [
  "AQMHAAcBDmRvY3VtZW50LXN0b3JlAwlwYXJhZ3JhcGgHAAcABgQABwEHUnVuYm9vawA=",
  "AQMIAAcBDmRvY3VtZW50LXN0b3JlAwlwYXJhZ3JhcGgHAAgABgQACAEWTWludXRlcyBvZiB0aGUgbWVldGluZwA=",
  "AQMJAAcBDmRvY3VtZW50LXN0b3JlAwlwYXJhZ3JhcGgHAAkABgQACQEKQW4gaWRlYSDDvAA=",
  undefined,
];
const TITLES = ["Runbook", "Minutes of the meeting", "An idea ü", null];
const idOf = (at: number) => `11111111-1111-4111-8111-00000000000${at}`;
const versions: TableSpec<Key> = { name: "document-versions", indexes: {} };

it("a data folder of 4.8.6 is one of 5.0.0 after its start: its documents are read, their content lies apart", async () => {
  const folder = await mkdtemp(join(tmpdir(), "weft-upgraded-"));
  try {
    await cp(FIXTURE, folder, { recursive: true });
    const { ports, close } = await openUpgradePlatform(folder);
    await upgradeData(ports, { release: "5.0.0", alone: true });
    for (const [at, content] of CONTENT.entries()) {
      const { items } = await ports.tables.query(versions, { pk: idOf(at) });
      const blobs = await Promise.all(items.map(({ sk }) => ports.blobs.get(`documents/${idOf(at)}/${sk}`)));
      const texts = blobs.map((bytes) => Buffer.from(bytes ?? []).toString("base64"));
      expect(texts).toEqual(content === undefined ? [] : [content]);
    }
    await close();

    const { deps, close: end } = await testDeps({ folder });
    for (const [at, title] of TITLES.entries()) {
      const { status, body } = await call(deps, get, { params: { id: idOf(at) }, token: null });
      expect([status, body.title, Object.hasOwn(body, "content")]).toEqual([200, title, false]);
    }
    await end();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
