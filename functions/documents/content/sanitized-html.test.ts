import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Y from "yjs";
import { type ConverterProcess, converterProcess } from "#lib/platform/embedded/converter/client.ts";
import type { Log } from "#lib/platform/log.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call as callHandler } from "#lib/testing/test-handler-call.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { route as create } from "../documents/create.ts";
import { route as formatted } from "./formatted.ts";
import { handler as patch } from "./patch.ts";

/** The used part of the browser that the converter includes. */
interface Browser {
  readonly window: {
    readonly document: HtmlNode & {
      readonly body: HtmlNode;
    };
  };
}
interface HtmlNode {
  readonly localName: string;
  readonly textContent: string | null;
  readonly attributes: Iterable<{ readonly name: string; readonly value: string }>;
  getAttribute(name: string): string | null;
  querySelector(selector: string): HtmlNode | null;
  querySelectorAll(selector: string): Iterable<HtmlNode>;
}
const { JSDOM } = createRequire(import.meta.resolve("@blocknote/server-util"))("jsdom") as {
  readonly JSDOM: new (html: string) => Browser;
};

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };

let converter: ConverterProcess;
let test: TestDeps;
let id: string;
beforeAll(async () => {
  converter = converterProcess({ log: silent });
  test = await testDeps({ converter });
  id = (await call(test.deps, create, { body: { title: "<script>alert(1)</script>" } })).body.id;
});
afterAll(async () => {
  await test.close();
  await converter.close();
});

/** Saves content and returns it in a format. */
async function shown(bytes: Uint8Array | string, content_format: "html" | "markdown"): Promise<string> {
  const body = { content: Buffer.from(bytes).toString("base64") };
  expect((await callHandler(test.deps, patch, { params: { id }, body, token: TEST_TOKEN })).status).toBe(204);
  const asked = { params: { id }, query: { content_format }, token: TEST_TOKEN };
  const { status, body: answer } = await call(test.deps, formatted, asked);
  expect(status).toBe(200);
  return answer.content;
}

/** A document as an editor saves it: blocks in a group, each in a container. */
function edited(make: () => readonly Y.XmlElement[]): Uint8Array {
  const doc = new Y.Doc();
  const group = new Y.XmlElement("blockGroup");
  doc.getXmlFragment("document-store").insert(0, [group]);
  make().forEach((node, at) => {
    const container = new Y.XmlElement("blockContainer");
    container.setAttribute("id", `b${at}`);
    container.insert(0, [node]);
    group.insert(at, [container]);
  });
  return Y.encodeStateAsUpdate(doc);
}

function node(kind: string, text: string, format: object = {}, attributes: Record<string, string> = {}) {
  const element = new Y.XmlElement(kind);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  const inner = new Y.XmlText();
  if (text !== "") element.insert(0, [inner]);
  if (text !== "") inner.insert(0, text, format);
  return element;
}

const ADDRESSED = new Set([
  "href",
  "src",
  "srcset",
  "action",
  "data",
  "poster",
  "ping",
  "xlink:href",
  "cite",
]);

/** Executable parts of markup, as a browser parses it. */
function harmIn(html: string): string[] {
  const { document } = new JSDOM(html).window;
  const found: string[] = [];
  const elements = [...document.querySelectorAll("*")];
  const refused =
    "script, style, iframe, object, embed, form, base, meta[http-equiv], svg, math, link, template";
  for (const one of document.body.querySelectorAll(refused)) found.push(`<${one.localName}>`);
  for (const element of elements)
    for (const { name, value } of element.attributes) {
      if (
        /^on|^srcdoc$|^formaction$|^style$/i.test(name) &&
        /on|srcdoc|formaction|url\(|expression/i.test(`${name}${value}`)
      )
        found.push(`${name}=${value}`);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: browsers remove these from URLs
      const address = value.replace(/[\u0000-\u0020]/g, "").toLowerCase();
      if (
        ADDRESSED.has(name) &&
        /^(?:javascript|vbscript|data:text|data:image\/svg|file|blob):/.test(address)
      )
        found.push(`${name}=${value}`);
    }
  return found;
}

const MARKUP = [
  "<svg onload=alert(1)>",
  "<svg/onload=alert(1)//",
  "<svg><use href='data:image/svg+xml;base64,PHN2Zz4='/></svg>",
  "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
  "<img src=x onerror=alert(1)>",
  "</p></div><script>alert(1)</script>",
  "<a href='javascript:alert(1)'>x</a>",
  "<details open ontoggle=alert(1)>",
  "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
  "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
  "&lt;script&gt;alert(1)&lt;/script&gt;",
  "<!--><img src=x onerror=alert(1)>-->",
  "<style>@import 'javascript:alert(1)'</style>",
  "$\\href{javascript:alert(1)}{x}$",
  '```mermaid\nclick A href "javascript:alert(1)"\n```',
];
const ADDRESSES = [
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  "java\tscript:alert(1)",
  "java\nscript:alert(1)",
  "\u0001javascript:alert(1)",
  " javascript:alert(1)",
  "javascript&colon;alert(1)",
  "vbscript:msgbox(1)",
  "data:text/html,<script>alert(1)</script>",
  "data:text/html;base64,PHNjcmlwdD4=",
  "DATA:text/html,x",
  "data:image/svg+xml,<svg onload=alert(1)>",
  "file:///etc/passwd",
  "blob:https://e.example/x",
  "view-source:javascript:alert(1)",
  "jar:x",
  '//evil.example" onclick="alert(1)',
];

describe("formatted content", () => {
  it.each(MARKUP)("shows markup in texts as text: %s", async (text) => {
    const content = edited(() => [
      ...["paragraph", "heading", "bulletListItem", "quote", "codeBlock", "checkListItem"].map((kind) =>
        node(kind, text),
      ),
      node("paragraph", text, { code: {}, bold: {} }),
    ]);
    for (const bytes of [content, text, `# ${text}\n\n* ${text}`]) {
      const html = await shown(bytes, "html");
      expect(harmIn(html), html).toEqual([]);
    }
    expect(new JSDOM(await shown(content, "html")).window.document.body.textContent).toContain(
      text.split("\n")[0],
    );
  });

  it.each(ADDRESSES)("contains no link or image to %j", async (address) => {
    const content = edited(() => [
      node("paragraph", "follow", {
        link: { href: address, target: "_top", onclick: "alert(1)", ping: address },
      }),
      ...["image", "video", "audio", "file"].map((kind) =>
        node(kind, "", {}, { url: address, name: address, caption: address, previewWidth: address }),
      ),
    ]);
    const html = await shown(content, "html");
    expect(harmIn(html), html).toEqual([]);
    const markdown = await shown(content, "markdown");
    const targets = [...markdown.matchAll(/\]\(\s*<?([^)>\s]*)/g)].map(([, target = ""]) => target);
    for (const target of targets) {
      const link = `<a href="${target.replaceAll("\\", "").replaceAll('"', "")}">`;
      const href = new JSDOM(link).window.document.querySelector("a")?.getAttribute("href") ?? "";
      const { protocol } = URL.parse(href, "https://e.example") ?? { protocol: "none" };
      expect(["https:", "http:", "none"], markdown).toContain(protocol);
    }
  });

  it("escapes attributes of blocks", async () => {
    for (const value of [
      '"><img src=x onerror=alert(1)>',
      "red;background:url(javascript:alert(1))",
      "x' onclick='alert(1)",
    ]) {
      const names = [
        "textColor",
        "backgroundColor",
        "textAlignment",
        "language",
        "level",
        "url",
        "caption",
        "id",
      ];
      const attributes = Object.fromEntries(names.map((name) => [name, value]));
      const content = edited(() =>
        ["paragraph", "heading", "image", "codeBlock", "numberedListItem", "table"].map((kind) =>
          node(kind, kind === "image" || kind === "table" ? "" : "text", {}, attributes),
        ),
      );
      const body = { content: Buffer.from(content).toString("base64") };
      await callHandler(test.deps, patch, { params: { id }, body, token: TEST_TOKEN });
      const asked = { params: { id }, query: { content_format: "html" }, token: TEST_TOKEN };
      const answer = await call(test.deps, formatted, asked);
      // A block that no editor creates is rejected, or shown without its effect.
      expect([200, 400]).toContain(answer.status);
      if (answer.status === 200) expect(harmIn(answer.body.content), answer.body.content).toEqual([]);
    }
  });

  it.each([
    ...MARKUP.filter((text) => text.startsWith("<")),
    "[click](javascript:alert(1))",
    "[x]: javascript:alert(1)",
    "![x](data:text/html,x)",
    "<javascript:alert(1)>",
    "[a][b] and [b]: vbscript:x",
    "&lt;svg onload=alert(1)&gt;",
    "x](javascript:alert(1)) [y",
  ])("is markdown in which text is text: %s", async (text) => {
    const markdown = await shown(
      edited(() => [
        node("paragraph", text),
        node("heading", text),
        node("bulletListItem", text, { link: { href: `https://e.example/?q=${text}` } }),
        node("image", "", {}, { url: `https://e.example/a.png?q=${text}\n\n${text}`, name: text }),
        node("file", "", {}, { url: "https://e.example/file", name: text }),
        node("codeBlock", "code", {}, { language: `js\n\`\`\`\n\n${text}` }),
      ]),
      "markdown",
    );
    const open = markdown.replace(/^```js[\w+-]*\ncode\n```$/m, "").replace(/\\[\\\]]/g, "");
    expect(open, markdown).not.toContain("```");
    expect(open, markdown).not.toMatch(/<[a-z/!?]|&(?!amp;|lt;)#?\w+;/i);
    const targets = [...open.matchAll(/\](?:\(|:\s*)([^)\s]*)/g)].map(([, target]) => target);
    for (const target of targets) expect(target, markdown).toMatch(/^https:\/\/e\.example\//);
  });

  it("escapes text of several parts in Markdown", async () => {
    const parts = [
      "<",
      "svg onload=alert(1)>",
      " [x]",
      "(javascript:alert(1))",
      " &",
      "lt;img src=x>",
      " <!",
      "-- x",
    ];
    const content = edited(() => {
      const [element, text] = [new Y.XmlElement("paragraph"), new Y.XmlText()];
      element.insert(0, [text]);
      let length = 0;
      for (const [at, part] of parts.entries()) {
        text.insert(length, part, { underline: at % 2 === 0 ? {} : null });
        length += part.length;
      }
      return [element];
    });
    const markdown = await shown(content, "markdown");
    expect(markdown).toBe(
      "&lt;svg onload=alert(1)> [x\\](javascript:alert(1)) &amp;lt;img src=x> &lt;!-- x\n",
    );
  });

  it("is Markdown that editors parse to the same text", async () => {
    const text = "a <svg> & &lt; [b](c) [d]: e < f";
    const markdown = await shown(
      edited(() => [node("paragraph", text)]),
      "markdown",
    );
    const made = await converter.convert({ from: "markdown", bytes: Buffer.from(markdown), to: "yjs" });
    const back = made.ok
      ? await converter.convert({ from: "yjs", bytes: made.value as Uint8Array, to: "json" })
      : made;
    expect(back.ok && JSON.parse(String(back.value))[0].content).toMatchObject([{ type: "text", text }]);
  });

  it("is a response that no browser treats as a page", async () => {
    const { handler } = await import("./formatted.ts");
    for (const content_format of ["html", "markdown", "json"]) {
      const asked = { params: { id }, query: { content_format }, token: TEST_TOKEN };
      const { headers } = await callHandler(test.deps, handler, asked);
      expect(headers["content-type"]).toBe("application/json; charset=utf-8");
      expect(headers["x-content-type-options"]).toBe("nosniff");
    }
    const { handler: get } = await import("./get.ts");
    await shown("<script>alert(1)</script>", "html");
    const { headers, text } = await callHandler(test.deps, get, { params: { id }, token: TEST_TOKEN });
    expect([headers["content-type"], headers["x-content-type-options"], text]).toEqual([
      "text/plain; charset=utf-8",
      "nosniff",
      "<script>alert(1)</script>",
    ]);
  });
});
