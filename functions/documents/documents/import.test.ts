import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConverterProcess, converterProcess } from "#lib/platform/embedded/converter/client.ts";
import { getMedia, PNG } from "#lib/testing/test-attachments.ts";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { createUser, grantRole } from "#lib/testing/test-documents.ts";
import { type TestGateway, testGateway } from "#lib/testing/test-gateway.ts";
import {
  IMPORT_SETTINGS,
  type ImportOptions,
  sendFile,
  wordDocument,
  zipOf,
} from "#lib/testing/test-imports.ts";
import { readLog } from "#lib/testing/test-workflows.ts";

let test: TestDeps;
let gateway: TestGateway;
let converter: ConverterProcess;
beforeAll(async () => {
  test = await testDeps({ settings: { ...IMPORT_SETTINGS, CONVERSION_FILE_MAX_SIZE: "1048576" } });
  converter = converterProcess({ log: test.deps.log });
  await test.close();
  test = await testDeps({ settings: { ...IMPORT_SETTINGS, CONVERSION_FILE_MAX_SIZE: "1048576" }, converter });
  gateway = await testGateway(test);
}, 60_000);
afterAll(async () => {
  await gateway.close();
  await test.close();
  await converter.close();
});

const send = (name: string, content: Uint8Array | string, options?: ImportOptions) =>
  sendFile(gateway, name, content, options);
const markdownOf = async (id: string): Promise<string> => {
  const path = `/documents/${id}/formatted-content/?content_format=markdown`;
  return (await gateway.request("GET", path)).body.content;
};
const count = async (): Promise<number> => (await gateway.request("GET", "/documents/")).body.count;
const refused = (message: unknown) => ({ status: 400, body: { file: [message] } });

describe("POST documents/ with a file", () => {
  it("creates a document from Markdown, with the file's name as its title", async () => {
    const { status, body } = await send(
      "Notes.md",
      "# Hello\n\n- [x] done\n- [ ] open\n\n> quoted\n\n```js\nx\n```\n",
      {
        fields: { title: "ignored" },
        contentType: "application/octet-stream",
      },
    );
    expect(status).toBe(201);
    expect(body).toMatchObject({ title: "Notes.md", user_role: "owner", depth: 1, nb_accesses_direct: 1 });
    expect(body).not.toHaveProperty("skipped");
    expect(await markdownOf(body.id)).toBe(
      "# Hello\n\n* [x] done\n* [ ] open\n\n> quoted\n\n```js\nx\n```\n",
    );
    const events = await readLog(test.deps, { topic: "documents.created" });
    expect(JSON.parse(events.records.at(0)?.data ?? "")).toMatchObject({
      document_id: body.id,
      title: "Notes.md",
    });
  }, 30_000);

  it("takes the title of the front matter", async () => {
    const { body } = await send("a.md", "---\ntitle: The plan\nposition: 2\n---\n# Start\n");
    expect(body.title).toBe("The plan");
    expect(await markdownOf(body.id)).toBe("# Start\n");
    const other = await send("b.md", "---\na: [1\n---\n\ntext");
    expect(other.body.title).toBe("b.md");
  });

  it("creates a document from text, HTML and Word", async () => {
    const text = await send("a.txt", "one\nline\n\n<b>two</b>");
    expect(await markdownOf(text.body.id)).toBe("one\\\nline\n\n&lt;b>two&lt;/b>\n");
    const html = await send(
      "a.html",
      "<title>x</title><h2>Head</h2><script>alert(1)</script><ul><li>a<ul><li>b</li></ul></li></ul><p onclick=x>c</p>",
    );
    expect(await markdownOf(html.body.id)).toBe("## Head\n\n* a\n  * b\n\nc\n");
    const word = await send("Report.docx", await wordDocument());
    expect(word).toMatchObject({ status: 201, body: { title: "Report.docx" } });
    const markdown = await markdownOf(word.body.id);
    expect(markdown).toMatch(
      /^# Chapter 1\n\n\*\*bold\*\* and \[a link\]\(https:\/\/e\.example\/\) not this\n/,
    );
    expect(markdown).toContain("* outer\n  * inner\n");
    expect(markdown).toContain("1. first\n   1. within\n");
    expect(markdown).toContain("* [x] done\n* [ ] to do\n");
    expect(markdown).toMatch(/\| Name +\|\n\| -+ \|\n\| Ada +\|/);
    expect(markdown).not.toContain("javascript");
    const key = /\/media\/(\S+?)\)/.exec(markdown)?.[1] ?? "";
    const media = await getMedia(gateway, key);
    expect(Buffer.from(await media.arrayBuffer()).equals(PNG)).toBe(true);
    const listed = await gateway.request("GET", `/documents/${word.body.id}/attachments/`);
    expect(listed.body.results).toMatchObject([{ key, name: "image-1.png" }]);
    const events = await readLog(test.deps, { topic: "documents.attachment.uploaded" });
    expect(events.records.map(({ data }) => JSON.parse(data ?? "").key)).toContain(key);
  }, 30_000);

  it("creates a document from an OpenDocument text, with its images as attachments", async () => {
    const frame = '<draw:frame><draw:image xlink:href="Pictures/a.png"/></draw:frame>';
    const odt = await zipOf({
      mimetype: "application/vnd.oasis.opendocument.text",
      "content.xml": `<office:text><text:h text:outline-level="2">Head</text:h><text:p>text</text:p><text:p>${frame}</text:p></office:text>`,
      "Pictures/a.png": PNG,
    });
    const { status, body } = await send("Report.odt", odt);
    expect(status).toBe(201);
    expect(await markdownOf(body.id)).toMatch(/^## Head\n\ntext\n\n!\[\]\(\/media\/\S+\)\n$/);
    const listed = await gateway.request("GET", `/documents/${body.id}/attachments/`);
    expect(listed.body.results).toMatchObject([{ name: "image-1.png" }]);
  });

  it("makes attachments of the images that a page contains as data, each once", async () => {
    const url = `data:image/png;base64,${PNG.toString("base64")}`;
    const { body } = await send(
      "a.md",
      `text ![one](${url})\n\n![two](${url})\n\n![no](data:image/svg+xml;base64,PHN2Zz4=)\n`,
    );
    const listed = await gateway.request("GET", `/documents/${body.id}/attachments/`);
    expect(listed.body.results).toHaveLength(1);
    const markdown = await markdownOf(body.id);
    expect(markdown.match(/\/media\//g)).toHaveLength(2);
    expect(markdown).not.toContain("data:");
  });

  it("creates a child, with the id that the form gives before or after the file", async () => {
    const parent = (await send("p.md", "parent")).body.id;
    const id = "6f0ab6a4-0b4c-4a52-9d2c-0f6d1f3b8a11";
    const child = await send("c.md", "child", { parent, after: { id } });
    expect(child).toMatchObject({ status: 201, body: { id, depth: 2, nb_accesses_direct: 0 } });
    expect(await send("d.md", "child", { parent, fields: { id } })).toMatchObject({
      status: 400,
      body: { id: [expect.any(String)] },
    });
    expect(await markdownOf(id)).toBe("child\n");
    const children = await gateway.request("GET", `/documents/${parent}/children/`);
    expect(children.body.results.map((one: { id: string }) => one.id)).toEqual([id]);
  });

  it("refuses those who may not create children, before it reads the file", async () => {
    const parent = (await send("p.md", "parent")).body.id;
    const reader = await createUser(test.deps, "reader@example.com");
    await grantRole(test.deps, parent, reader.id, "reader");
    const before = await count();
    expect((await send("c.md", "x", { parent, token: reader.token })).status).toBe(403);
    expect((await send("c.md", "x", { token: null })).status).toBe(401);
    expect(await count()).toBe(before);
  });

  it("creates a document from the fields of a form without a file", async () => {
    const form = new FormData();
    form.append("title", "From a form");
    const url = `${gateway.url}/api/v1.0/documents/`;
    const { authorization } = { authorization: "Bearer a-token-for-tests-only" };
    const response = await fetch(url, { method: "POST", headers: { authorization }, body: form });
    expect(response.status).toBe(201);
    expect(((await response.json()) as { title: string }).title).toBe("From a form");
    const json = await gateway.request("POST", "/documents/", { body: { title: "JSON" } });
    expect(json).toMatchObject({ status: 201, body: { title: "JSON" } });
    const large = await gateway.request("POST", "/documents/", {
      body: { title: "x", other: "y".repeat(2_000_000) },
    });
    expect(large.status).toBe(413);
  });
});

describe("a file that cannot be imported", () => {
  it("is refused with the reference's messages, and nothing is created", async () => {
    const before = await count();
    expect(await send("a.exe", "x")).toMatchObject(
      refused(
        "File extension .exe is not allowed. Allowed extensions are: ['.docx', '.odt', '.md', '.html', '.txt', '.zip'].",
      ),
    );
    expect(await send("noextension", "x")).toMatchObject({ status: 400 });
    expect(await send("a.md", "")).toMatchObject(refused("The submitted file is empty."));
    expect(await send("a.md", "x".repeat(1_048_577))).toMatchObject(
      refused("File size exceeds the maximum limit of 1 MB."),
    );
    const mismatch = refused("The content of the file is not of the type of its extension.");
    expect(await send("a.docx", "no zip")).toMatchObject(mismatch);
    const noText = refused("The content of the file is not text in UTF-8 or UTF-16.");
    expect(await send("a.md", PNG)).toMatchObject(noText);
    expect(await send("a.html", Buffer.from([0x3c, 0xff, 0x00]))).toMatchObject(noText);
    expect(await send("a.txt", Buffer.from("caf\xe9, later", "latin1"))).toMatchObject(noText);
    const broken = (why: string) => refused(`Could not convert file content. ${why}`);
    expect(await send("a.docx", (await wordDocument()).subarray(0, 3_000))).toMatchObject(
      broken("The archive is damaged or not a zip archive."),
    );
    // Half a character of UTF-16.
    expect(await send("a.md", Buffer.from([0xff, 0xfe, 0x41]))).toMatchObject(
      broken("Its encoding is neither UTF-8 nor UTF-16."),
    );
    const other = broken("The file is not a Word document.");
    expect(await send("a.docx", await zipOf({ "a.txt": "x" }))).toMatchObject(other);
    expect(await send("a.odt", await wordDocument())).toMatchObject(
      broken("The file is not an OpenDocument text."),
    );
    expect(await count()).toBe(before);
    expect(await test.deps.blobs.list("imports/")).toEqual([]);
  });

  it("is refused unless CONVERSION_UPLOAD_ENABLED is true", async () => {
    const other = await testDeps();
    const closed = await testGateway(other);
    try {
      expect(await sendFile(closed, "a.md", "x")).toMatchObject(refused("file upload is not allowed"));
      expect((await closed.request("POST", "/documents/", { body: {} })).status).toBe(201);
    } finally {
      await closed.close();
      await other.close();
    }
  });

  it("is unavailable without a converter", async () => {
    const other = await testDeps({ settings: IMPORT_SETTINGS });
    const without = await testGateway(other);
    try {
      expect(await sendFile(without, "a.md", "x")).toMatchObject({ status: 503 });
    } finally {
      await without.close();
      await other.close();
    }
  });
});
