import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as Y from "yjs";
import { contentWith, getMedia, PNG, settleEdits, uploadFile } from "#lib/testing/test-attachments.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { createUser, grantRole } from "#lib/testing/test-documents.ts";
import { type TestGateway, testGateway } from "#lib/testing/test-gateway.ts";

const DAY_MS = 24 * 60 * 60_000;

let test: TestDeps;
let gateway: TestGateway;
let source: string;
let target: string;
let key: string;
let ann: { id: string; token: string };
let ben: { id: string; token: string };
beforeEach(async () => {
  test = await testDeps({ settings: { API_DOCUMENT_THROTTLE_RATE: "off" } });
  gateway = await testGateway(test);
  [source, target] = [await create(), await create()];
  ({ key } = await uploadFile(gateway, source, "photo.png", PNG));
  [ann, ben] = [await createUser(test.deps, "ann"), await createUser(test.deps, "ben")];
  // Ann may edit the target, and not read the source; Ben may read the target only.
  await grantRole(test.deps, target, ann.id, "editor");
  await grantRole(test.deps, target, ben.id, "reader");
});
afterEach(async () => {
  await gateway.close();
  await test.close();
});

const create = async (): Promise<string> =>
  (await gateway.request("POST", "/documents/", { body: {} })).body.id;
const save = async (to: string, body: unknown, token: string = TEST_TOKEN): Promise<void> => {
  const { status } = await gateway.request("PATCH", `/documents/${to}/content/`, { body, token });
  expect(status).toBe(204);
};
const canOpen = async (token: string | null, one = key): Promise<boolean> =>
  (await getMedia(gateway, one, { token })).status === 200;
const exists = async (one = key): Promise<boolean> =>
  (await test.deps.blobs.head(`media/${one}`)) !== undefined;

describe("content that references an attachment of another document", () => {
  it.each<readonly [string, (key: string) => string]>([
    ["a path", (one) => `/media/${one}`],
    ["a URL", (one) => `https://docs.example.org/media/${one}?x=1`],
    ["JSON", (one) => JSON.stringify({ url: `/media/${one}` }).replaceAll("/", "\\/")],
    ["a query parameter", (one) => `/x?url=${encodeURIComponent(`/media/${one}`)}`],
    [
      "capitals",
      (one) => `/media/${one.toUpperCase().replace(".PNG", ".png").replace("ATTACHMENTS", "attachments")}`,
    ],
  ])("as %s shares it with the readers of its document, if the author may read it", async (_, spell) => {
    expect(await canOpen(ben.token)).toBe(false);
    await save(target, { content: Buffer.from(`see ${spell(key)} here`).toString("base64") });
    expect(await canOpen(ben.token)).toBe(true);
  });

  it("also shares unsafe files", async () => {
    const unsafe = (await uploadFile(gateway, source, "a.html", "<html>")).key;
    expect(unsafe).toContain("-unsafe.");
    await save(target, contentWith(unsafe));
    expect(await canOpen(ben.token, unsafe)).toBe(true);
  });

  it("does not share it if the author may not read it", async () => {
    await save(target, contentWith(key), ann.token);
    expect(await canOpen(ann.token)).toBe(false);
    expect(await canOpen(ben.token)).toBe(false);
    await grantRole(test.deps, source, ann.id, "reader");
    await save(target, { content: Buffer.from(`again /media/${key}`).toString("base64") }, ann.token);
    expect(await canOpen(ben.token)).toBe(true);
  });

  it("shares it from an HTTP update once the log is compacted, if its authors may read it", async () => {
    const append = async (token: string): Promise<void> => {
      const document = new Y.Doc();
      const block = new Y.XmlElement("image");
      document.getXmlFragment("document-store").insert(0, [block]);
      block.setAttribute("url", `/media/${key}`);
      const update = Buffer.from(Y.encodeStateAsUpdate(document)).toString("base64");
      const { status } = await gateway.request("POST", `/documents/${target}/updates/`, {
        body: { generation: 0, updates: [update] },
        token,
      });
      expect(status).toBeLessThan(300);
      await settleEdits(test);
    };
    await append(ann.token);
    expect(await canOpen(ben.token)).toBe(false);
    await append(TEST_TOKEN);
    expect(await canOpen(ben.token)).toBe(true);
  });

  it("shares it with a copy, and keeps it when the original drops it", async () => {
    await save(source, contentWith(key));
    const copy = (await gateway.request("POST", `/documents/${source}/duplicate/`, { body: {} })).body.id;
    await grantRole(test.deps, copy, ben.id, "reader");
    expect(await canOpen(ben.token)).toBe(true);
  });
});

describe("an attachment that nothing references", () => {
  const wait = async (days: number): Promise<void> => {
    for (let day = 0; day < days; day += 1) {
      test.clock.advance(DAY_MS);
      await test.tick();
    }
  };

  it("is deleted a week after its upload, and its quota is free again", async () => {
    await wait(6);
    expect(await exists()).toBe(true);
    await wait(2);
    expect(await exists()).toBe(false);
    expect(await canOpen(TEST_TOKEN)).toBe(false);
    const { status } = await gateway.request("GET", `/documents/${source}/media-check/?key=${key}`);
    expect(status).toBe(404);
    const { items } = await test.deps.tables.query(
      { name: "attachment-usage", indexes: {} },
      { pk: "installation" },
    );
    expect(items[0]).toMatchObject({ bytes: 0 });
  });

  it("is kept while the content references it", async () => {
    await save(source, contentWith(key));
    await settleEdits(test);
    await wait(20);
    expect(await canOpen(TEST_TOKEN)).toBe(true);
  });

  it("is kept while a version references it, and deleted a week after the last one is gone", async () => {
    await save(source, contentWith(key));
    await settleEdits(test);
    test.clock.advance(DAY_MS);
    await save(source, { content: Buffer.from("nothing").toString("base64") });
    await settleEdits(test);
    await wait(20);
    expect(await exists()).toBe(true);
    const { versions } = (await gateway.request("GET", `/documents/${source}/versions/`)).body;
    for (const { version_id } of versions)
      expect((await gateway.request("DELETE", `/documents/${source}/versions/${version_id}/`)).status).toBe(
        204,
      );
    await save(source, { content: Buffer.from("still nothing").toString("base64") });
    await settleEdits(test);
    await wait(6);
    expect(await exists()).toBe(true);
    await wait(3);
    expect(await exists()).toBe(false);
  });

  it("stays for other documents that reference it", async () => {
    await save(target, contentWith(key));
    await settleEdits(test);
    await wait(10);
    expect(await exists()).toBe(true);
    expect(await canOpen(ben.token)).toBe(true);
    expect((await gateway.request("GET", `/documents/${source}/media-check/?key=${key}`)).status).toBe(404);
  });

  it("is deleted with what an interrupted upload left", async () => {
    const left = `${source}/attachments/22222222-2222-4222-8222-222222222222.png`;
    await test.deps.blobs.put(`media/${left}`, "left");
    await test.deps.timers.set("a", test.clock.now(), "attachments", {
      body: JSON.stringify({ document_id: source, key: left, uploaded_at: test.clock.now() }),
    });
    await test.tick();
    expect(await exists(left)).toBe(true);
    test.clock.advance(61 * 60_000);
    await test.tick();
    expect(await exists(left)).toBe(false);
    expect(await exists()).toBe(true);
  });
});
