import { createHash } from "node:crypto";
import { expect } from "vitest";
import type { Ports } from "../platform/ports.ts";
import type { Key, TableSpec } from "../platform/tables.ts";
import { RELEASE_KEY, releaseTable } from "./release-state.ts";

interface Row extends Key {
  readonly [name: string]: unknown;
}
const documents: TableSpec<Row> = { name: "documents", indexes: {} };
const versions: TableSpec<Row> = { name: "document-versions", indexes: {} };

const COUNT = 60;
const idOf = (at: number) => `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`;
const stateOf = (at: number) => Buffer.from(`state of ${at}`.repeat(at + 1)).toString("base64");
const contentOf = (at: number): unknown => {
  if (at === 0) return "";
  if (at === 1) return null;
  if (at === 2) return undefined;
  return at === 3 ? "not base64 at all" : stateOf(at);
};

/** Stores documents as release 4.8 does, with their content. */
export async function storeOldDocuments({ tables }: Pick<Ports, "tables">): Promise<void> {
  await tables.write([{ op: "put", table: releaseTable, item: { ...RELEASE_KEY, release: "4.8.6" } }]);
  for (let at = 0; at < COUNT; at += 1) {
    const content = contentOf(at);
    const item = {
      pk: idOf(at),
      sk: "document",
      id: idOf(at),
      title: `Document ${at}`,
      creator: "ada",
      updated_at: "2026-03-01T12:00:00.000Z",
      ...(content === undefined ? {} : { content }),
    };
    await tables.write([{ op: "put", table: documents, item }]);
  }
}

/** Expects each of them to be stored as release 5.0.0 does. */
export async function expectNewDocuments(ports: Pick<Ports, "tables" | "blobs">): Promise<void> {
  expect(await ports.tables.get(releaseTable, RELEASE_KEY)).toEqual({ ...RELEASE_KEY, release: "5.0.0" });
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
      kind: at === 3 ? "plain" : "yjs",
      bytes: bytes.length,
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
}
