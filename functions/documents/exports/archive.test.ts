import { beforeEach, describe, expect, it } from "vitest";
import { fromBufferPromise } from "yauzl";
import * as Y from "yjs";
import { documentKey, documentsTable } from "#lib/documents/tables/documents.ts";
import { exportBlob, exportKey, exportsTable } from "#lib/documents/tables/exports.ts";
import { PNG, uploadFile } from "#lib/testing/test-attachments.ts";
import { TEST_TOKEN, type TestDeps } from "#lib/testing/test-deps.ts";
import { createUser, grantRole } from "#lib/testing/test-documents.ts";
import { testExports } from "#lib/testing/test-exports.ts";
import type { TestGateway } from "#lib/testing/test-gateway.ts";

const open = testExports();
let test: TestDeps;
let gateway: TestGateway;
beforeEach(async () => {
  ({ test, gateway } = await open());
});

const create = async (title: string, parent?: string): Promise<string> => {
  const path = parent === undefined ? "/documents/" : `/documents/${parent}/children/`;
  return (await gateway.request("POST", path, { body: { title } })).body.id;
};
const save = (id: string, content: Uint8Array | string) =>
  gateway.request("PATCH", `/documents/${id}/content/`, {
    body: { content: Buffer.from(content).toString("base64") },
  });
const start = (path: string, token: string | null = TEST_TOKEN) => gateway.request("GET", path, { token });

/** Starts an export, writes it and downloads the file. */
async function exported(path: string, token = TEST_TOKEN): Promise<Map<string, Buffer>> {
  const { status, body } = await start(path, token);
  expect([status, body.status, body.url]).toEqual([202, "waiting", null]);
  await test.tick();
  const done = (await gateway.request("GET", `/exports/${body.id}/`, { token })).body;
  expect(done).toMatchObject({ status: "done", error: null });
  expect(done.progress.done).toBe(done.progress.total);
  const file = await fetch(done.url);
  expect(file.status).toBe(200);
  const bytes = Buffer.from(await file.arrayBuffer());
  expect(bytes.length).toBe(done.bytes);
  return unzipped(bytes);
}

async function unzipped(bytes: Buffer): Promise<Map<string, Buffer>> {
  const zip = await fromBufferPromise(bytes, { lazyEntries: true, validateEntrySizes: true });
  const files = new Map<string, Buffer>();
  for await (const entry of zip.eachEntry()) {
    const chunks: Buffer[] = [];
    for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
    files.set(entry.fileName, Buffer.concat(chunks));
  }
  return files;
}

describe("the export of a tree", () => {
  it("is a zip of Markdown with front matter, attachments and links between its files", async () => {
    const root = await create("Handbook");
    const first = await create('Chapter: "one"/two', root);
    const second = await create("Same", root);
    const third = await create("same", root);
    const below = await create("Überblick 日本", first);
    const { key } = await uploadFile(gateway, below, "photo.png", PNG);
    await save(root, "Read this.");
    await save(
      below,
      stateOf(
        node("image", { url: `/media/${key}`, name: "photo" }),
        node("callout", { emoji: "!" }, new Y.XmlText("take care")),
        node("paragraph", {}, new Y.XmlText("see "), link(third)),
      ),
    );
    const files = await exported(`/documents/${root}/export/?with_descendants=true`);
    expect([...files.keys()].toSorted()).toEqual([
      "Handbook.md",
      "Handbook/Chapter_ _one__two.md",
      "Handbook/Chapter_ _one__two/Überblick 日本.md",
      "Handbook/Same.md",
      "Handbook/same (2).md",
      "attachments/photo.png",
    ]);
    expect(files.get("attachments/photo.png")).toEqual(PNG);
    expect(String(files.get("Handbook.md"))).toBe('---\ntitle: "Handbook"\nposition: 0\n---\nRead this.\n');
    expect(String(files.get("Handbook/same (2).md"))).toContain('title: "same"\nposition: 2');
    const page = String(files.get("Handbook/Chapter_ _one__two/Überblick 日本.md"));
    expect(page).toContain("](../../attachments/photo.png)");
    expect(page).toContain('```weft:callout\n{"type":"callout","props":{"emoji":"!"');
    expect(page).toContain("see [same](../same%20%282%29.md)");
    expect(second).not.toBe(third);
  }, 60_000);

  it("contains only what the caller may read, and its link belongs to the caller until it expires", async () => {
    const root = await create("Root");
    await create("Child", root);
    const [ann, ben] = [await createUser(test.deps, "ann"), await createUser(test.deps, "ben")];
    await grantRole(test.deps, root, ann.id, "reader");
    const path = `/documents/${root}/export/?with_descendants=true`;
    expect((await start(path, null)).status).toBe(401);
    expect((await start(path, ben.token)).status).toBe(403);
    const { body } = await start(path, ann.token);
    // A repeated request starts nothing.
    expect((await start(path, ann.token)).body.id).toBe(body.id);
    expect((await start(`/exports/${body.id}/`, ben.token)).status).toBe(404);
    await test.tick();
    const { url } = (await start(`/exports/${body.id}/`, ann.token)).body;
    expect((await fetch(url.replace(/token=.*/, "token=wrong"))).status).toBe(404);
    const file = await fetch(url);
    expect(file.headers.get("content-disposition")).toContain("Root.zip");
    expect((await unzipped(Buffer.from(await file.arrayBuffer()))).size).toBe(2);
    test.clock.advance(24 * 3_600_000);
    expect((await fetch(url)).status).toBe(404);
    await test.tick();
    expect(await test.deps.blobs.head(exportBlob(body.id))).toBeUndefined();
    expect(await test.deps.tables.get(exportsTable, exportKey(body.id))).toBeUndefined();
  }, 60_000);

  it("fails with a reason if the caller loses access, and leaves no file", async () => {
    const root = await create("Root");
    const ann = await createUser(test.deps, "ann");
    await grantRole(test.deps, root, ann.id, "reader");
    const { body } = await start(`/documents/${root}/export/?with_descendants=true`, ann.token);
    await gateway.request("DELETE", `/documents/${root}/`);
    await test.tick();
    const failed = (await start(`/exports/${body.id}/`, ann.token)).body;
    expect(failed).toMatchObject({ status: "failed", url: null, error: expect.any(String) });
    expect(await test.deps.blobs.head(exportBlob(body.id))).toBeUndefined();
  });
});

describe("the export of a user's own data", () => {
  it("contains the documents that they own, their accesses and their comments, and nothing of others", async () => {
    const ann = await createUser(test.deps, "ann");
    const shared = await create("Shared");
    await grantRole(test.deps, shared, ann.id, "commenter");
    const own = (await gateway.request("POST", "/documents/", { token: ann.token, body: { title: "Diary" } }))
      .body.id;
    await gateway.request("POST", `/documents/${own}/children/`, {
      token: ann.token,
      body: { title: "Monday" },
    });
    await gateway.request("POST", `/documents/${shared}/threads/`, {
      token: ann.token,
      body: { body: "by ann" },
    });
    await gateway.request("POST", `/documents/${shared}/threads/`, { body: { body: "by the owner" } });
    const files = await exported("/users/me/export/", ann.token);
    expect([...files.keys()].toSorted()).toEqual(
      ["Diary.md", "Diary/Monday.md", "accesses.json", "comments.json", "user.json"].toSorted(),
    );
    expect(JSON.parse(String(files.get("user.json")))).toMatchObject({ id: ann.id });
    expect(JSON.parse(String(files.get("comments.json")))).toMatchObject([
      { document: shared, body: "by ann" },
    ]);
    expect(JSON.parse(String(files.get("accesses.json")))).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ document: own, role: "owner", title: "Diary" }),
        expect.objectContaining({ document: shared, role: "commenter", title: "Shared" }),
      ]),
    );
    expect((await start("/users/me/export/", null)).status).toBe(401);
    expect(await test.deps.tables.get(documentsTable, documentKey(own))).toBeDefined();
  }, 60_000);
});

const element = (
  name: string,
  props: Readonly<Record<string, string>>,
  ...inner: (Y.XmlText | Y.XmlElement)[]
) => {
  const made = new Y.XmlElement(name);
  for (const [key, value] of Object.entries(props)) made.setAttribute(key, value);
  made.insert(0, inner);
  return made;
};
const node = (...given: Parameters<typeof element>) => element("blockContainer", {}, element(...given));
const link = (docId: string) => element("interlinkingLinkInline", { docId });
function stateOf(...blocks: readonly Y.XmlElement[]): Uint8Array {
  const doc = new Y.Doc();
  doc.getXmlFragment("document-store").insert(0, [element("blockGroup", {}, ...blocks)]);
  return Y.encodeStateAsUpdate(doc);
}
