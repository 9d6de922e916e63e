import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as Y from "yjs";
import { readConfig } from "#lib/settings/config.ts";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { createUser, type TestUser } from "#lib/testing/test-documents.ts";
import { type GatewayRequest, type TestGateway, testGateway } from "#lib/testing/test-gateway.ts";

const MARKDOWN = "# Notes\n";
const POSITIONS = ["first-child", "last-child", "first-sibling", "last-sibling", "left", "right"];
const DETAIL = [
  "abilities",
  "ancestors_link_reach",
  "ancestors_link_role",
  "computed_link_reach",
  "computed_link_role",
  "created_at",
  "creator",
  "deleted_at",
  "depth",
  "excerpt",
  "id",
  "is_favorite",
  "link_reach",
  "link_role",
  "nb_accesses_ancestors",
  "nb_accesses_direct",
  "numchild",
  "path",
  "title",
  "updated_at",
  "user_role",
];

let test: TestDeps;
let gateway: TestGateway;
async function open(settings: Record<string, string> = {}): Promise<void> {
  await close();
  test = await testDeps({
    settings,
    converter: {
      convert: async ({ to }) => ({ ok: true, value: to === "json" ? '[{"type":"heading"}]' : MARKDOWN }),
    },
  });
  gateway = await testGateway(test);
}
async function close(): Promise<void> {
  await gateway?.close();
  await test?.close();
}
beforeEach(() => open());
afterEach(close);

const ask = (method: string, path: string, asked?: GatewayRequest) => gateway.request(method, path, asked);
const make = async (title: string, above = "/documents/"): Promise<string> =>
  (await ask("POST", above, { body: { title } })).body.id;
const one = (id: string, rest = ""): string => `/documents/${id}/${rest}`;
const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("2. Resources and their fields", () => {
  it("the detail of a document has the documented fields, and no content", async () => {
    const id = await make("Notes");
    await ask("PATCH", one(id, "content/"), { body: { content: base64("text") } });
    const { status, body } = await ask("GET", one(id));
    expect(status).toBe(200);
    expect(Object.keys(body).toSorted()).toEqual(DETAIL);
    expect(body).toMatchObject({ id, title: "Notes" });
  });

  it("settings have the contract's names, and renamed ones are rejected with the new name", () => {
    const settings = {
      PRIMARY_SDK_API_KEY: "key",
      PRIMARY_SDK_BASE_URL: "https://models.example/v1",
      AI_ALLOW_REACH_FROM: "public",
      PUBLISH_AS_MIT: "false",
      COLLABORATION_BACKEND_BASE_URL: "http://backend.example",
    };
    expect(readConfig(settings).documents).toMatchObject({
      models: { family: "primary", apiKey: "key", baseUrl: "https://models.example/v1" },
      aiAllowReachFrom: "public",
      publishAsMit: false,
      collaborationBackendBaseUrl: "http://backend.example",
    });
    expect(() => readConfig({ AI_API_KEY: "key" })).toThrow(/PRIMARY_SDK_API_KEY/);
    expect(() => readConfig({ AI_BASE_URL: "https://models.example" })).toThrow(/PRIMARY_SDK_BASE_URL/);
  });

  it("a customization file replaces the built-in footer", async () => {
    const builtIn = (await ask("GET", "/config/", { token: null })).body.theme_customization;
    expect(builtIn.footer.default).toBeDefined();
    const folder = await mkdtemp(join(tmpdir(), "weft-theme-"));
    const footer = { default: { legalLinks: [{ label: "Imprint", href: "/imprint" }] } };
    await writeFile(join(folder, "theme.json"), JSON.stringify({ footer }));
    await open({ THEME_CUSTOMIZATION_FILE_PATH: join(folder, "theme.json") });
    const { status, body } = await ask("GET", "/config/", { token: null });
    expect([status, body.theme_customization.footer]).toEqual([200, footer]);
    await rm(folder, { recursive: true });
  });
});

describe("3. States and transitions", () => {
  it("a deleted document can be restored, and others cannot", async () => {
    const id = await make("Notes");
    const live = (await ask("GET", one(id))).body;
    const refused = await ask("POST", one(id, "restore/"));
    expect([refused.status, refused.body]).toEqual([400, { detail: "This document is not deleted." }]);
    expect((await ask("GET", one(id))).body).toEqual(live);
    expect((await ask("DELETE", one(id))).status).toBe(204);
    expect((await ask("GET", one(id))).body.deleted_at).toEqual(expect.any(String));
    const { status, body } = await ask("POST", one(id, "restore/"));
    expect([status, body]).toEqual([200, { detail: "Document has been successfully restored." }]);
    expect((await ask("GET", one(id))).body.deleted_at).toBeNull();
  });

  it.each(POSITIONS)(
    "a document cannot be moved onto itself or into its descendants, as %s",
    async (position) => {
      const root = await make("root");
      const child = await make("child", one(root, "children/"));
      const leaf = await make("leaf", one(child, "children/"));
      const before = (await ask("GET", one(root, "tree/"))).body;
      for (const target_document_id of [child, leaf]) {
        const { status, body } = await ask("POST", one(child, "move/"), {
          body: { target_document_id, position },
        });
        expect([status, body]).toEqual([
          400,
          { target_document_id: "Cannot move a document to its own descendant." },
        ]);
      }
      expect((await ask("GET", one(root, "tree/"))).body).toEqual(before);
    },
  );

  it("pinned documents are sorted by their last change, newest first", async () => {
    const ids: string[] = [];
    for (const title of ["one", "two", "three"]) {
      test.clock.advance(1_000);
      ids.push(await make(title));
    }
    for (const id of ids) await ask("POST", one(id, "favorite/"));
    test.clock.advance(1_000);
    await ask("PATCH", one(ids[0] ?? ""), { body: { title: "one more" } });
    const { status, body } = await ask("GET", "/documents/favorite_list/");
    expect(status).toBe(200);
    expect(body.results.map(({ title }: { title: string }) => title)).toEqual(["one more", "three", "two"]);
    expect(body.results.every(({ is_favorite }: { is_favorite: boolean }) => is_favorite)).toBe(true);
  });
});

describe("4. Endpoints", () => {
  it("content is sent as base64 and streamed as plain text", async () => {
    const id = await make("Notes");
    const empty = await ask("GET", one(id, "content/"));
    expect([empty.status, empty.text, empty.headers.get("etag")]).toEqual([200, "", null]);
    const doc = new Y.Doc();
    doc.getText("document-store").insert(0, "Hello");
    const content = Buffer.from(Y.encodeStateAsUpdate(doc)).toString("base64");
    const saved = await ask("PATCH", one(id, "content/"), { body: { content } });
    expect([saved.status, saved.text]).toEqual([204, ""]);
    const { status, headers, text } = await ask("GET", one(id, "content/"));
    expect([status, text]).toEqual([200, content]);
    expect(headers.get("content-type")).toMatch(/^text\/plain\b/);
    expect(headers.get("cache-control")).toBe("private, no-cache");
    expect(headers.get("content-length")).toBe(String(content.length));
    const etag = headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[0-9a-f]{32}"$/);
    for (const known of [
      { "if-none-match": `W/${etag}` },
      { "if-modified-since": headers.get("last-modified") ?? "" },
    ]) {
      const again = await ask("GET", one(id, "content/"), { headers: known });
      expect([again.status, again.text]).toEqual([304, ""]);
    }
  });

  it.each([
    [{}, { content: ["This field is required."] }],
    [{ content: null }, { content: ["This field may not be null."] }],
    [{ content: 7 }, { content: ["Not a valid string."] }],
    [{ content: "a$==" }, { content: ["Invalid base64 content."] }],
    [{ content: "//79" }, "invalid yjs document"],
  ])("content of %j is refused", async (body, said) => {
    const id = await make("Notes");
    const refused = await ask("PATCH", one(id, "content/"), { body });
    expect([refused.status, refused.body]).toEqual([400, said]);
    expect((await ask("GET", one(id, "content/"))).text).toBe("");
  });

  it("formatted content has the former path of the content", async () => {
    const id = await make("Notes");
    const empty = await ask("GET", one(id, "formatted-content/"));
    expect(Object.keys(empty.body).toSorted()).toEqual([
      "content",
      "created_at",
      "id",
      "title",
      "updated_at",
    ]);
    expect([empty.status, empty.body.content]).toEqual([200, null]);
    await ask("PATCH", one(id, "content/"), { body: { content: base64("text") } });
    expect((await ask("GET", one(id, "formatted-content/"))).body.content).toEqual([{ type: "heading" }]);
    for (const format of ["markdown", "HTML"])
      expect((await ask("GET", one(id, `formatted-content/?content_format=${format}`))).body.content).toBe(
        MARKDOWN,
      );
    const refused = await ask("GET", one(id, "formatted-content/?content_format=docx"));
    expect([refused.status, refused.body]).toEqual([400, [expect.stringContaining("docx")]]);
  });

  it("the descendants endpoint is removed, with or without a trailing slash, and search exists", async () => {
    const id = await make("Notes");
    for (const path of ["descendants", "descendants/"]) {
      const gone = await ask("GET", one(id, path));
      expect([gone.status, gone.body]).toEqual([404, { detail: "Not found." }]);
    }
    const leaf = await make("Notes of today", one(id, "children/"));
    const { status, body } = await ask("GET", `/documents/search/?q=notes&document=${id}`);
    expect([status, body.count]).toEqual([200, 2]);
    expect(body.results.map((found: { id: string }) => found.id)).toEqual([id, leaf]);
  });

  it("children can be filtered by title", async () => {
    const root = await make("root");
    for (const title of ["Été 1", "Winter", "été 2"]) await make(title, one(root, "children/"));
    for (const name of ["q", "title"]) {
      const { body } = await ask("GET", one(root, `children/?${name}=ete&page_size=1`));
      expect([body.count, body.results[0].title]).toEqual([2, "Été 1"]);
      expect(
        (await ask("GET", one(root, `children/?${name}=ete&page_size=1&page=2`))).body.results[0].title,
      ).toBe("été 2");
    }
    const { id } = (await ask("GET", one(root, "children/?q=winter"))).body.results[0];
    await ask("DELETE", one(id));
    expect((await ask("GET", one(root, "children/?q=winter"))).body.count).toBe(0);
    expect((await ask("GET", one(root, "children/?q=winter"), { token: null })).status).toBe(401);
  });
});

describe("5. Authentication", () => {
  const mayAsk = async (id: string, asked: GatewayRequest) =>
    (await ask("GET", one(id), asked)).body.abilities.ai_transform;

  it.each([
    ["authenticated", false, true],
    ["public", true, true],
    ["restricted", false, false],
  ])("of those who have the link of a document, models answer by %s", async (reach, anybody, somebody) => {
    await open({ AI_ALLOW_REACH_FROM: reach });
    const ann: TestUser = await createUser(test.deps, "ann");
    const id = await make("Notes");
    const link = { link_reach: "public", link_role: "editor" };
    expect((await ask("PUT", one(id, "link-configuration/"), { body: link })).body).toEqual(link);
    expect(await mayAsk(id, { token: null })).toBe(anybody);
    expect(await mayAsk(id, { token: ann.token })).toBe(somebody);
  });

  it("the key set exists once the private key is set, and does not reveal it", async () => {
    const none = await ask("GET", "/jwks", { token: null });
    expect([none.status, none.body]).toEqual([404, { detail: "Not found." }]);
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    await open({ OIDC_RS_PRIVATE_KEY_STR: String(privateKey.export({ type: "pkcs8", format: "pem" })) });
    const { status, body } = await ask("GET", "/jwks", { token: null });
    expect([status, body.keys.length, body.keys[0].kty]).toEqual([200, 1, "RSA"]);
    expect(Object.keys(body.keys[0])).not.toEqual(expect.arrayContaining(["d"]));
  });

  it("the header of the forward authentication is a setting", () => {
    expect(readConfig({}).documents.mediaAuthOriginalUrlHeader).toBe("x-original-url");
    const settings = { MEDIA_AUTH_ORIGINAL_URL_HEADER: "HTTP_X_FORWARDED_URI" };
    expect(readConfig(settings).documents.mediaAuthOriginalUrlHeader).toBe("x-forwarded-uri");
  });
});
