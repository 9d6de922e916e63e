import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type ConverterProcess, converterProcess } from "#lib/platform/embedded/converter/client.ts";
import type { Log } from "#lib/platform/log.ts";
import { PNG, SVG_WITH_SCRIPT } from "#lib/testing/test-attachments.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { type TestGateway, testGateway } from "#lib/testing/test-gateway.ts";
import { IMPORT_SETTINGS, sendFile, zipOf } from "#lib/testing/test-imports.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };
const REFUSED = "Could not convert file content";
const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

let converter: ConverterProcess;
let test: TestDeps;
let gateway: TestGateway;
beforeAll(async () => {
  converter = converterProcess({ log: silent });
  test = await testDeps({ settings: IMPORT_SETTINGS, converter });
  gateway = await testGateway(test);
}, 60_000);
afterAll(async () => {
  await gateway.close();
  await test.close();
  await converter.close();
});

const send = (name: string, content: Uint8Array | string) => sendFile(gateway, name, content);
const contentOf = async (id: string, format: string): Promise<string> =>
  (await gateway.request("GET", `/documents/${id}/formatted-content/?content_format=${format}`)).body.content;
const count = async (): Promise<number> => (await gateway.request("GET", "/documents/")).body.count;

/** The job of an archive, after it has ended. */
async function runJob(bytes: Uint8Array) {
  const sent = await send("a.zip", bytes);
  expect(sent.status).toBe(202);
  await test.drain();
  return (await gateway.request("GET", `/imports/${sent.body.id}/`)).body;
}

/** Replaces names of the same length, which the writer of archives would refuse. */
function withNames(zip: Buffer, names: Readonly<Record<string, string>>): Buffer {
  let text = zip.toString("latin1");
  for (const [placeholder, name] of Object.entries(names)) {
    expect(Buffer.byteLength(name)).toBe(placeholder.length);
    text = text.replaceAll(placeholder, Buffer.from(name).toString("latin1"));
  }
  return Buffer.from(text, "latin1");
}

/** A Word document with this body and these relationships. */
const wordWith = (body: string, relationships = "", more: Readonly<Record<string, string>> = {}) =>
  zipOf({
    "[Content_Types].xml": `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
    "_rels/.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" Type="${OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>`,
    "word/document.xml": `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="${OFFICE}" xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"><w:body>${body}</w:body></w:document>`,
    "word/_rels/document.xml.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relationships}</Relationships>`,
    ...more,
  });

describe("text that is nested deeply", () => {
  it.each([
    ["lists", Array.from({ length: 1_000 }, (_, at) => `${"  ".repeat(at)}- a`).join("\n")],
    ["lists in a line", "- ".repeat(50_000)],
    ["numbered lists", "1. ".repeat(50_000)],
    ["quotes", `${"> ".repeat(50_000)}x`],
    ["quotes and lists", `${"> - ".repeat(300)}x`],
  ])("is refused at once in Markdown: %s", async (_, text) => {
    expect(await send("a.md", text)).toEqual({
      status: 400,
      body: { file: [`${REFUSED}. Lists and quotes are nested deeper than 200 levels.`] },
    });
  });

  it("of 200 levels is read, and code and separate lists count as no levels", async () => {
    const code = `\`\`\`\n${"  ".repeat(2_000)}x\n\`\`\`\n`;
    const lists = Array.from({ length: 500 }, (_, at) => `${" ".repeat(at % 3)}- a\n\ntext\n`).join("\n");
    expect((await send("a.md", `${"> ".repeat(200)}x\n\n${code}\n${lists}`)).status).toBe(201);
  }, 30_000);

  it.each([
    ["HTML", "a.html", "<div>".repeat(1_000)],
    ["emphasis", "a.md", `${"*".repeat(6_000)}x${"*".repeat(6_000)}`],
    ["front matter", "a.md", `---\n${"a: [".repeat(1_500)}\n---\ntext`],
  ])(
    "never makes the server fail: %s",
    async (_, name, text) => {
      const { status, body } = await send(name, text);
      expect([201, 400]).toContain(status);
      if (status === 400) expect(body.file[0]).toContain(REFUSED);
    },
    60_000,
  );
});

describe("text that could run scripts", () => {
  it.each([
    [
      "a.md",
      "[a](javascript:alert(1)) [b](JaVa\tScript:alert(1)) [c](data:text/html;base64,PHNjcmlwdD4=) ![d](javascript:alert(1)) <javascript:alert(1)>\n\n" +
        "<img src=x onerror=alert(1)>\n\n<script>alert(1)</script>\n\n<iframe srcdoc='<script>alert(1)</script>'></iframe>\n\n[e]: javascript:alert(1)\n[e]\n",
    ],
    [
      "a.html",
      '<base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=https://evil.example/"><link rel="stylesheet" href="https://evil.example/x.css"><p style="background:url(https://evil.example/)" onclick="alert(1)">text</p><a href="&#106;avascript:alert(1)">a</a><form action="https://evil.example/"><input name="x"></form>' +
        '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;"></table></mtext></math><svg><script>alert(1)</script></svg><object data="x"></object>',
    ],
  ])(
    "is imported without them: %s",
    async (name, text) => {
      const { status, body } = await send(name, text);
      expect(status).toBe(201);
      const html = await contentOf(body.id, "html");
      expect(html).not.toMatch(
        /<(?:script|iframe|object|form|base|meta|link|svg|math|style)\b|\son\w+=|evil\.example/i,
      );
      expect(html).not.toMatch(/(?:href|src)="(?:javascript|data:text)/i);
      expect(JSON.stringify(await contentOf(body.id, "json"))).not.toMatch(
        /"(?:url|href)\\*":\\*"\s*(?:java\s*script|data:text)/i,
      );
    },
    30_000,
  );

  it("keeps a name with markup and line breaks as text", async () => {
    const name = '"><img src=x onerror=alert(1)>\r\nSet-Cookie: a=b\u202e.md';
    const form = new FormData();
    form.append("file", new File(["text"], name));
    form.append("creator", "someone");
    form.append("role", "owner");
    form.append("link_reach", "public");
    const response = await fetch(`${gateway.url}/api/v1.0/documents/`, {
      method: "POST",
      headers: { authorization: `Bearer ${TEST_TOKEN}` },
      body: form,
    });
    const body = (await response.json()) as { id: string; title: string; link_reach: string };
    expect(response.status).toBe(201);
    expect(response.headers.get("set-cookie")).toBeNull();
    expect(body.title).not.toMatch(/[\r\n]/);
    expect(body.link_reach).toBe("restricted");
  });
});

describe("a Word document that refers to what is outside", () => {
  it("is imported without it, and nothing is fetched", async () => {
    let requests = 0;
    const server = createServer((_, response) => {
      requests += 1;
      response.end(PNG);
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.png`;
    const image = (id: string, by: "link" | "embed"): string =>
      `<w:p><w:r><w:drawing><wp:inline><a:graphic><a:graphicData><pic:pic><pic:blipFill><a:blip r:${by}="${id}"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`;
    const relation = (id: string, type: string, target: string): string =>
      `<Relationship Id="${id}" Type="${OFFICE}/${type}" Target="${target}" TargetMode="External"/>`;
    const linked = relation("one", "image", url) + relation("two", "image", "file:///etc/passwd");
    const word = await wordWith(
      `<w:p><w:r><w:t>text</w:t></w:r></w:p>${image("one", "link")}${image("two", "embed")}`,
      linked + relation("three", "attachedTemplate", url),
    );
    const { status, body } = await send("a.docx", word);
    expect(status).toBe(201);
    expect(await contentOf(body.id, "markdown")).toBe("text\n");
    expect(body.skipped).toEqual(expect.arrayContaining(["A linked image"]));
    expect(requests).toBe(0);
  }, 30_000);

  it("is refused if it declares entities, in any of its parts", async () => {
    const entities =
      '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>';
    const refusal = { status: 400, body: { file: [expect.stringContaining("document type")] } };
    const styles = { "word/styles.xml": `<?xml version="1.0"?>${entities}<a>&b;&c;</a>` };
    expect(await send("a.docx", await wordWith("<w:p/>", "", styles))).toEqual(refusal);
  });
});

describe("an archive with unusual names", () => {
  it("imports what is a page, reports the rest, and writes no file of these names", async () => {
    const pages = [
      "aux.md",
      "nul.md",
      "__proto__.md",
      "constructor.md",
      "a\u2024\u2024b.md",
      "  .md",
      `${"x".repeat(200)}.md`,
    ];
    const entries = Object.fromEntries(pages.map((name) => [name, `page ${name}`]));
    const zip = await zipOf({
      ...entries,
      "index.md": "[up](../../../etc/passwd) [nul](nul.md) ![svg](files/evil.svg) [proto](__proto__.md)\n",
      "files/evil.svg": SVG_WITH_SCRIPT,
      "placeholder-1.md": "NUL",
      "placeholder-2.md": "absolute",
      "placeholder-3.md": "drive",
      "placeholder-4.md": "backslashes",
      "placeholder-5.md": "escape sequence",
    });
    const hostile = withNames(zip, {
      "placeholder-1.md": "evil\0xxxxxxxx.md",
      "placeholder-2.md": "/etc/evil-abs.md",
      "placeholder-3.md": "C:/evil-drive.md",
      "placeholder-4.md": "..\\..\\..\\evil.md",
      "placeholder-5.md": "\u001b[31mevilxxxx.md",
    });
    const job = await runJob(hostile);
    expect(job).toMatchObject({ status: "succeeded", error: null });
    expect(job.skipped.filter((one: string) => one.endsWith("not a file within the archive"))).toHaveLength(
      5,
    );
    const { results } = (await gateway.request("GET", `/documents/${job.document}/children/?page_size=50`))
      .body;
    const titles = results.map(({ title }: { title: string }) => title);
    expect(titles).toEqual(
      expect.arrayContaining(["aux", "nul", "__proto__", "constructor", "a\u2024\u2024b", "x".repeat(200)]),
    );
    expect(titles.join()).not.toContain("evil");
    const index = results.find(({ title }: { title: string }) => title === "index");
    const markdown = await contentOf(index.id, "markdown");
    expect(markdown).toContain("[up](../../../etc/passwd)");
    expect(markdown).toMatch(/\[nul\]\(\/docs\/[\w-]{36}\/\)/);
    const key = /\/media\/([^)\s]+)/.exec(markdown)?.[1] ?? "";
    const media = await fetch(`${gateway.url}/media/${key}`, {
      headers: { authorization: `Bearer ${TEST_TOKEN}` },
    });
    expect(media.headers.get("content-disposition")).toMatch(/^attachment/);
    expect(media.headers.get("content-security-policy")).toContain("sandbox");
  }, 30_000);

  it("is refused if it unpacks to more than it declares, has too many entries, or is a bomb within limits", async () => {
    const before = await count();
    const expectFailed = async (zip: Uint8Array, message: RegExp): Promise<void> =>
      expect(await runJob(zip)).toMatchObject({
        status: "failed",
        document: null,
        error: expect.stringMatching(message),
      });
    const page = "x".repeat(50_000);
    const zip = await zipOf({ "a.md": page });
    const size = Buffer.alloc(4);
    size.writeUInt32LE(page.length);
    const declared = Buffer.from(zip);
    for (let at = declared.indexOf(size); at !== -1; at = declared.indexOf(size, at + 1))
      declared.writeUInt32LE(100, at);
    await expectFailed(declared, /damaged/);
    const many = Object.fromEntries(Array.from({ length: 20_001 }, (_, at) => [`${at}.txt`, ""]));
    await expectFailed(await zipOf(many, { compress: false }), /more than 20000 entries/);
    await expectFailed(await zipOf({ "a.md": "x", "b.bin": Buffer.alloc(30_000_000) }), /unpacks to more/);
    const encrypted = Buffer.from(zip);
    for (const signature of ["PK\x03\x04", "PK\x01\x02"]) {
      const at = encrypted.indexOf(signature, 0, "latin1") + (signature.endsWith("\x04") ? 6 : 8);
      encrypted.writeUInt16LE(encrypted.readUInt16LE(at) | 1, at);
    }
    await expectFailed(encrypted, /encrypted/);
    expect(await count()).toBe(before);
  }, 60_000);
});
