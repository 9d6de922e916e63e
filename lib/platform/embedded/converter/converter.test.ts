import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Y from "yjs";
import type { Log } from "../../log.ts";
import { type ConverterProcess, converterProcess } from "./client.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };
const bytes = (text: string): Uint8Array => Buffer.from(text);

function state(write: (fragment: Y.XmlFragment) => void): Uint8Array {
  const doc = new Y.Doc();
  write(doc.getXmlFragment("document-store"));
  return Y.encodeStateAsUpdate(doc);
}

/** A document as an editor saves it: blocks in a group, each in a container. */
const edited = (...nodes: Y.XmlElement[]): Uint8Array =>
  state((fragment) => {
    const group = new Y.XmlElement("blockGroup");
    fragment.insert(0, [group]);
    nodes.forEach((node, at) => {
      const container = new Y.XmlElement("blockContainer");
      container.setAttribute("id", `b${at}`);
      container.insert(0, [node]);
      group.insert(at, [container]);
    });
  });

function paragraph(text: string, format?: object): Y.XmlElement {
  const node = new Y.XmlElement("paragraph");
  const inner = new Y.XmlText();
  node.insert(0, [inner]);
  inner.insert(0, text, format);
  return node;
}

describe("the converter", () => {
  let converter: ConverterProcess;
  beforeAll(() => {
    converter = converterProcess({ log: silent });
  });
  afterAll(() => converter.close());
  const shown = async (
    content: Uint8Array,
    to: "json" | "markdown" | "html",
    from: "yjs" | "plain" = "yjs",
  ) => {
    const converted = await converter.convert({ from, bytes: content, to });
    if (!converted.ok) return converted.reason;
    return to === "json" ? JSON.parse(String(converted.value)) : converted.value;
  };

  it("converts an editor's document to blocks, Markdown and HTML", async () => {
    const content = edited(paragraph("Hello "), paragraph("bold", { bold: {} }));
    expect(await shown(content, "json")).toMatchObject([
      { id: "b0", type: "paragraph", content: [{ type: "text", text: "Hello ", styles: {} }], children: [] },
      { id: "b1", content: [{ text: "bold", styles: { bold: true } }] },
    ]);
    expect(await shown(content, "markdown")).toBe("Hello \n\n**bold**\n");
    expect(await shown(content, "html")).toMatch(/^<p[^>]*>Hello <\/p><p[^>]*><strong>bold<\/strong><\/p>$/);
  }, 30_000);

  it("converts text to paragraphs, and Markdown to a document that editors open", async () => {
    expect(await shown(bytes("one\r\nline\n\n\n two\n"), "json", "plain")).toMatchObject([
      { type: "paragraph", content: [{ text: "one\nline" }] },
      { type: "paragraph", content: [{ text: " two" }] },
    ]);
    expect(await shown(bytes("<script>alert(1)</script>"), "html", "plain")).toMatch(
      /^<p[^>]*>&lt;script&gt;alert\(1\)&lt;\/script&gt;<\/p>$/,
    );
    expect(await shown(bytes(""), "json", "plain")).toEqual([]);
    const made = await converter.convert({ from: "markdown", bytes: bytes("# Title\n\n- item"), to: "yjs" });
    expect(made.ok).toBe(true);
    if (made.ok) expect(await shown(made.value as Uint8Array, "markdown")).toBe("# Title\n\n* item\n");
  });

  it("removes everything that a browser would execute", async () => {
    const image = new Y.XmlElement("image");
    image.setAttribute("url", "javascript:alert(1)");
    const content = edited(
      paragraph("link", { link: { href: "java\tscript:alert(1)", target: "_blank", onclick: "alert(1)" } }),
      paragraph("data", { link: { href: "data:text/html,<script>alert(1)</script>" } }),
      paragraph("good", { link: { href: "https://e.example/?a=1" } }),
      paragraph("<img src=x onerror=alert(1)>"),
      image,
    );
    const html = await shown(content, "html");
    expect(html).toContain('href="https://e.example/?a=1"');
    expect(html).toContain("&lt;img src=x onerror=alert(1)&gt;");
    expect(html).not.toMatch(/javascript:|script:alert|data:text|onclick|<script|<img[^>]*onerror/i);
    expect(await shown(content, "markdown")).not.toMatch(/\]\((?:java|data:text)/i);
  });

  it("returns nothing for empty documents, and rejects invalid fragments", async () => {
    expect(
      await shown(
        state(() => undefined),
        "json",
      ),
    ).toEqual([]);
    const other = new Y.Doc();
    other.getMap("document-store").set("a", 1);
    other.getText("else").insert(0, "x");
    expect(await shown(Y.encodeStateAsUpdate(other), "json")).toEqual([]);
    expect(await shown(bytes("no update"), "json")).toBe("refused");
    expect(await shown(edited(paragraph("still there")), "markdown")).toBe("still there\n");
  });
});

describe("the conversion process", () => {
  it("is restarted after one that hangs, dies or exceeds its memory, and is ended when idle", async () => {
    const folder = await mkdtemp(join(tmpdir(), "weft-converter-"));
    const program = join(folder, "main.mjs");
    await writeFile(
      program,
      `process.on("disconnect", () => process.exit(0));
process.on("message", ({ id, task }) => {
  const content = Buffer.from(task.bytes).toString();
  if (content === "hang") for (;;);
  if (content === "die") process.exit(3);
  const all = [];
  if (content === "fill") for (;;) all.push(new Array(1000).fill(all.length));
  process.send({ kind: "done", id, value: process.pid });
});
process.send({ kind: "ready" });`,
    );
    const options = { log: silent, program: pathToFileURL(program), limitMs: 5_000, idleMs: 50 };
    const converter = converterProcess({ ...options, idleMs: 60_000 });
    const ask = (what: string) => converter.convert({ from: "plain", bytes: bytes(what), to: "json" });
    try {
      expect(converter.pid).toBe(0);
      const first = await ask("pid");
      expect(await ask("pid")).toEqual(first);
      const [hung, after] = await Promise.all([ask("hang"), ask("pid")]);
      expect(hung).toEqual({ ok: false, reason: "timeout" });
      expect(after).toMatchObject({ ok: true });
      expect(after).not.toEqual(first);
      await expect(ask("die")).rejects.toMatchObject({ code: "unavailable" });
      expect(await ask("fill")).toEqual({ ok: false, reason: expect.stringMatching(/memory|timeout/) });
      expect(await ask("pid")).toMatchObject({ ok: true });
    } finally {
      await converter.close();
    }
    await expect(ask("pid")).rejects.toMatchObject({ code: "unavailable" });
    const idle = converterProcess(options);
    await idle.convert({ from: "plain", bytes: bytes("pid"), to: "json" });
    await expect.poll(() => idle.pid).toBe(0);
    await idle.close();
    await rm(folder, { recursive: true });
  }, 60_000);
});
