import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import type { Key, TableSpec } from "#lib/platform/tables.ts";
import { testClock, testDeps } from "#lib/testing/test-deps.ts";
import { createUser, grantRole } from "#lib/testing/test-documents.ts";
import { call as callHandler } from "#lib/testing/test-handler-call.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { openUpgradePlatform } from "#lib/upgrades/test-upgrade-platform.ts";
import { upgradeData } from "#lib/upgrades/upgrade.ts";
import { handler as content } from "../content/get.ts";
import { handler as patch } from "../content/patch.ts";
import { route as version } from "../versions/get.ts";
import { route as versionsOf } from "../versions/list.ts";
import { route as get } from "./get.ts";

/** Four public documents, three with inline content: Yjs states with a paragraph that contains the title. */
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

it("a data folder of 4.8.6 is upgraded to 5.0.0 at the start: documents are readable, content is stored separately", async () => {
  const folder = await mkdtemp(join(tmpdir(), "weft-upgraded-"));
  try {
    await cp(FIXTURE, folder, { recursive: true });
    const { ports, close } = await openUpgradePlatform(folder);
    await upgradeData(ports, { release: "5.0.0", isExclusive: true });
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

it("the content that the upgrade moved is the document's content, and its first version after the next save", async () => {
  const folder = await mkdtemp(join(tmpdir(), "weft-upgraded-"));
  try {
    await cp(FIXTURE, folder, { recursive: true });
    const { ports, close } = await openUpgradePlatform(folder);
    await upgradeData(ports, { release: "5.0.0", isExclusive: true });
    await close();
    // A user whose access precedes the last change of the documents.
    const clock = testClock(Date.parse("2020-01-01T00:00:00Z"));
    const { deps, close: end } = await testDeps({ folder, clock });
    const ada = await createUser(deps, "ada");
    for (const [at] of TITLES.entries()) await grantRole(deps, idOf(at), ada.id, "owner");
    clock.advance(Date.parse("2026-06-01T00:00:00Z") - clock.now());
    for (const [at, was] of CONTENT.entries()) {
      const asked = { params: { id: idOf(at) }, token: ada.token };
      const read = await callHandler(deps, content, asked);
      expect([read.status, read.text]).toEqual([200, was ?? ""]);
      if (was === undefined) continue;
      const etag = read.headers["etag"] ?? "";
      expect(etag).toMatch(/^"[0-9a-f]{32}"$/);
      expect(read.headers["x-content-kind"]).toBe("yjs");
      const known = await callHandler(deps, content, { ...asked, headers: { "if-none-match": etag } });
      expect([known.status, known.text]).toEqual([304, ""]);
      const body = { content: Buffer.from("new").toString("base64") };
      const late = await callHandler(deps, patch, { ...asked, body, headers: { "if-match": '"other"' } });
      expect(late.status).toBe(412);
      const saved = await callHandler(deps, patch, { ...asked, body, headers: { "if-match": etag } });
      expect(saved.status).toBe(204);
      const { body: page } = await call(deps, versionsOf, asked);
      expect(page).toMatchObject({ count: 1, versions: [{ etag, is_latest: false }] });
      const params = { id: idOf(at), versionId: page.versions[0].version_id };
      expect(await call(deps, version, { ...asked, params })).toMatchObject({
        status: 200,
        body: { content: was, id: params.versionId },
      });
    }
    await end();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
