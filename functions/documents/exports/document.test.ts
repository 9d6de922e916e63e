import mammoth from "mammoth";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import * as Y from "yjs";
import type { Converter } from "#lib/platform/converter.ts";
import { PNG, uploadFile } from "#lib/testing/test-attachments.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { createUser, grantRole } from "#lib/testing/test-documents.ts";
import { testExports } from "#lib/testing/test-exports.ts";
import { type TestGateway, testGateway } from "#lib/testing/test-gateway.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { route } from "./document.ts";

const open = testExports();
let test: TestDeps;
let gateway: TestGateway;
let id: string;
beforeEach(async () => {
  ({ test, gateway } = await open());
  id = (await gateway.request("POST", "/documents/", { body: { title: 'Plan: "A/B"' } })).body.id;
});

/** One block of a document, as an editor writes it. */
function node(name: string, props: Readonly<Record<string, string>>, ...inner: (Y.XmlText | Y.XmlElement)[]) {
  const container = new Y.XmlElement("blockContainer");
  const element = new Y.XmlElement(name);
  container.insert(0, [element]);
  for (const [key, value] of Object.entries(props)) element.setAttribute(key, value);
  element.insert(0, inner);
  return container;
}
const inline = (name: string, props: Readonly<Record<string, string>>) => {
  const element = new Y.XmlElement(name);
  for (const [key, value] of Object.entries(props)) element.setAttribute(key, value);
  return element;
};

function stateOf(...blocks: readonly Y.XmlElement[]): Uint8Array {
  const doc = new Y.Doc();
  const group = new Y.XmlElement("blockGroup");
  doc.getXmlFragment("document-store").insert(0, [group]);
  group.insert(0, [...blocks]);
  return Y.encodeStateAsUpdate(doc);
}
async function save(state: Uint8Array | string, document = id): Promise<void> {
  const content = Buffer.from(state).toString("base64");
  const { status } = await gateway.request("PATCH", `/documents/${document}/content/`, { body: { content } });
  expect(status).toBe(204);
}
const download = (query: string, token: string | null = TEST_TOKEN, document = id) =>
  fetch(`${gateway.url}/api/v1.0/documents/${document}/export/?${query}`, {
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
  });
const bytesOf = async (query: string) => {
  const response = await download(query);
  expect([query, response.status]).toEqual([query, 200]);
  return Buffer.from(await response.arrayBuffer());
};

describe("the export of a large document", () => {
  it("is written by a job of the user, once for each format, and by the request without a user", async () => {
    await save("# Long\n\n".padEnd(2 * 1024 * 1024 + 1, "x"));
    const startJob = async (query: string) => {
      const response = await download(query);
      return { status: response.status, body: (await response.json()) as { id: string } };
    };
    const { status, body } = await startJob("export_format=markdown");
    expect({ status, body }).toMatchObject({
      status: 202,
      body: { status: "waiting", url: null, progress: { done: 0 } },
    });
    expect((await startJob("export_format=markdown")).body.id).toBe(body.id);
    const other = await startJob("export_format=html&comments=true");
    expect(other.body.id).not.toBe(body.id);
    await test.tick();
    const done = (await gateway.request("GET", `/exports/${body.id}/`)).body;
    expect(done).toMatchObject({ status: "done", error: null, progress: { done: 1, total: 1 } });
    const file = await fetch(done.url);
    expect(file.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    expect(file.headers.get("content-disposition")).toContain('filename="Plan___A_B_.md"');
    expect((await file.text()).length).toBe(done.bytes);
    expect(done.bytes).toBeGreaterThan(2 * 1024 * 1024);
    const html = (await gateway.request("GET", `/exports/${other.body.id}/`)).body;
    expect((await fetch(html.url)).headers.get("content-type")).toBe("text/html; charset=utf-8");

    const link = { link_reach: "public", link_role: "reader" };
    await gateway.request("PUT", `/documents/${id}/link-configuration/`, { body: link });
    expect((await download("export_format=markdown", null)).status).toBe(200);
    expect((await download("export_format=json")).status).toBe(200);
  }, 60_000);

  it("is one with many bytes of images, too, unless the format has none", async () => {
    const keys: string[] = [];
    for (let count = 0; count < 2; count += 1) {
      const bytes = Buffer.concat([PNG, Buffer.alloc(9 * 1024 * 1024)]);
      keys.push((await uploadFile(gateway, id, `${count}.png`, bytes)).key);
    }
    await save(stateOf(...keys.map((key) => node("image", { url: `/media/${key}`, name: "photo" }))));
    expect((await download("export_format=markdown")).status).toBe(200);
    expect((await download("export_format=html")).status).toBe(202);
  });
});

describe("the export of a document", () => {
  it("has every format, and shows images, blocks of editors and links that the caller may follow", async () => {
    const { key } = await uploadFile(gateway, id, "photo.png", PNG);
    const other = (await gateway.request("POST", "/documents/", { body: { title: "Other page" } })).body.id;
    await save(
      stateOf(
        node("callout", { emoji: "!" }, new Y.XmlText("take care")),
        node("pageBreak", {}),
        node("image", { url: `/media/${key}`, caption: "a photo" }),
        node("paragraph", {}, new Y.XmlText("see "), inline("interlinkingLinkInline", { docId: other })),
      ),
    );
    const html = (await bytesOf("export_format=html")).toString();
    expect(html).toContain(`src="data:image/png;base64,${PNG.toString("base64")}" alt="a photo"`);
    expect(html).toContain("take care");
    expect(html).toContain(`href="${gateway.url}/docs/${other}/"`);
    expect(html).toContain(">Other page</a>");
    const markdown = (await bytesOf("export_format=markdown")).toString();
    expect(markdown).toContain("> ! take care");
    expect(markdown).toContain(`![a photo](${gateway.url}/media/${key})`);
    const docx = await mammoth.convertToHtml({ buffer: await bytesOf("export_format=docx") });
    expect(docx.value).toContain("take care");
    expect(docx.value).toContain("Other page");
    expect((await bytesOf("export_format=odt")).toString("latin1", 30, 38)).toBe("mimetype");
    expect((await bytesOf("export_format=pdf")).toString("latin1", 0, 5)).toBe("%PDF-");
    expect(JSON.parse((await bytesOf("export_format=json")).toString())).toMatchObject([
      { type: "callout", props: { emoji: "!" } },
      { type: "pageBreak" },
      { type: "image" },
      { type: "paragraph" },
    ]);
    const copy = new Y.Doc();
    Y.applyUpdate(copy, await bytesOf("export_format=yjs"));
    expect(copy.getXmlFragment("document-store").toString()).toContain("take care");
  }, 60_000);

  it("is named after the document, and is not stored by caches", async () => {
    await save("some text");
    const response = await download("export_format=html");
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("content-disposition")).toContain(
      "filename*=UTF-8''Plan%3A%20%22A%2FB%22.html",
    );
    expect(response.headers.get("cache-control")).toBe("private, no-store");
    expect(response.headers.get("content-security-policy")).toMatch(/^sandbox;.*script-src 'none'/);
    expect(await response.text()).toContain("<p>some text</p>");
    // The title of an imported file is its name.
    await gateway.request("PATCH", `/documents/${id}/`, { body: { title: "Report.docx" } });
    const other = await download("export_format=markdown");
    expect(other.headers.get("content-disposition")).toContain('filename="Report.md"');
  });

  it("of a document without content is empty", async () => {
    expect(await (await download("export_format=json")).json()).toEqual([]);
    expect((await bytesOf("export_format=html")).toString()).toContain("<h1>Plan: &quot;A/B&quot;</h1>");
    const copy = new Y.Doc();
    Y.applyUpdate(copy, await bytesOf("export_format=yjs"));
  });

  it("is for those who may read the document, and reveals nothing of others", async () => {
    const [ann, ben] = [await createUser(test.deps, "ann"), await createUser(test.deps, "ben")];
    await grantRole(test.deps, id, ann.id, "reader");
    const secret = (await gateway.request("POST", "/documents/", { body: { title: "Secret" } })).body.id;
    const { key } = await uploadFile(gateway, secret, "photo.png", PNG);
    await save(
      stateOf(
        node("image", { url: `/media/${key}`, caption: "hidden" }),
        node("paragraph", {}, inline("interlinkingLinkInline", { docId: secret })),
      ),
    );
    // The content references the attachment, but was not saved by somebody without access to it.
    const response = await download("export_format=html", ann.token);
    expect(response.status).toBe(200);
    expect(await response.text()).not.toContain("Secret");
    expect((await download("export_format=html", ben.token)).status).toBe(403);
    expect((await download("export_format=html", null)).status).toBe(401);
    expect((await download("export_format=html", ann.token, secret)).status).toBe(403);
    expect((await download("comments=true", ann.token)).status).toBe(403);
  });

  it("appends the comments for those who may comment", async () => {
    const ann = await createUser(test.deps, "ann");
    await grantRole(test.deps, id, ann.id, "commenter");
    const body = [{ type: "paragraph", content: [{ type: "text", text: "please <b>check</b>" }] }];
    await gateway.request("POST", `/documents/${id}/threads/`, { body: { body } });
    await save("text");
    const html = await (await download("comments=true", ann.token)).text();
    expect(html).toContain("<h2>Comments</h2>");
    expect(html).toContain("please &lt;b&gt;check&lt;/b&gt;");
    expect((await bytesOf("export_format=html")).toString()).not.toContain("please");
  });

  it("reports an unknown format and content that cannot be converted", async () => {
    const unknown = await download("export_format=exe");
    expect([unknown.status, await unknown.text()]).toEqual([400, expect.stringContaining("export_format")]);
    expect((await download("comments=maybe")).status).toBe(400);
    const failing = {
      ...test.deps,
      renderer: { render: async () => ({ ok: false, reason: "timeout" }) as const },
    };
    await expect(call(failing, route, { params: { id } })).resolves.toEqual({
      status: 400,
      body: { error: "The document takes too long to export." },
    });
    const { renderer: _renderer, ...without } = test.deps;
    expect((await call(without, route, { params: { id } })).status).toBe(503);
  });
});

describe("what the editor writes itself", () => {
  it("is refused by default", async () => {
    const response = await download("export_format=docx-editor");
    expect([response.status, await response.json()]).toEqual([
      400,
      { detail: "export_format: docx-editor needs the editor's writers, which are not installed" },
    ]);
  });

  it("is exported with PUBLISH_AS_MIT=false", async () => {
    const asked: unknown[] = [];
    const writers: Converter = {
      convert: async ({ from, to }) => {
        asked.push([from, to]);
        return { ok: true, value: Buffer.from(`as ${to}`) };
      },
    };
    const other = await testDeps({ converter: writers, settings: { PUBLISH_AS_MIT: "false" } });
    const served = await testGateway(other);
    onTestFinished(async () => {
      await served.close();
      await other.close();
    });
    const page = (await served.request("POST", "/documents/", { body: { title: "Plan" } })).body.id;
    for (const format of ["docx", "odt", "pdf"]) {
      const response = await fetch(
        `${served.url}/api/v1.0/documents/${page}/export/?export_format=${format}-editor&comments=true`,
        { headers: { authorization: `Bearer ${TEST_TOKEN}` } },
      );
      expect([response.status, await response.text()]).toEqual([200, `as ${format}-editor`]);
      expect(response.headers.get("content-disposition")).toContain(`Plan.${format}`);
    }
    expect(asked).toEqual([
      ["yjs", "docx-editor"],
      ["yjs", "odt-editor"],
      ["yjs", "pdf-editor"],
    ]);
  });
});
