import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as Y from "yjs";
import type { ShownFormat } from "../platform/converter.ts";
import { convert } from "./convert.ts";

type Content = string | ContentNode | [text: string, marks: Record<string, unknown>];
interface ContentNode {
  readonly name: string;
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly content?: readonly Content[];
}

const node = (
  name: string,
  content: readonly Content[] = [],
  attributes: ContentNode["attributes"] = {},
): ContentNode => ({
  name,
  content,
  attributes,
});
/** A block as editors store it: in a container, its children in a group after the content. */
const block = (id: string, content: ContentNode, ...children: ContentNode[]): ContentNode =>
  node("blockContainer", [content, ...(children.length > 0 ? [node("blockGroup", children)] : [])], { id });
const paragraph = (...content: Content[]): ContentNode => node("paragraph", content);

function element({ name, attributes = {}, content = [] }: ContentNode): Y.XmlElement {
  const made = new Y.XmlElement<Record<string, never>>(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value as never);
  const parts: (Y.XmlElement | { insert: string; attributes: object }[])[] = [];
  for (const part of content) {
    if (typeof part === "object" && !Array.isArray(part)) {
      parts.push(element(part as ContentNode));
      continue;
    }
    const [insert, attributes] = typeof part === "string" ? [part, {}] : part;
    const last = parts.at(-1);
    if (Array.isArray(last)) last.push({ insert, attributes });
    else parts.push([{ insert, attributes }]);
  }
  const nodes = parts.map((part) => {
    if (!Array.isArray(part)) return part;
    const text = new Y.XmlText();
    text.applyDelta(part);
    return text;
  });
  made.insert(0, nodes);
  return made as unknown as Y.XmlElement;
}

function state(...blocks: ContentNode[]): Uint8Array {
  const doc = new Y.Doc();
  const group = new Y.XmlElement("blockGroup");
  doc.getXmlFragment("document-store").insert(0, [group]);
  for (const one of blocks) group.push([element(one)]);
  return Y.encodeStateAsUpdate(doc);
}

const shown = async (bytes: Uint8Array, to: ShownFormat): Promise<string> =>
  String(await convert({ from: "yjs", bytes, to }));
const json = async (bytes: Uint8Array) => JSON.parse(await shown(bytes, "json"));
const append = async (base: Uint8Array, text: string): Promise<Uint8Array> => {
  const bytes = Buffer.from(text);
  const update = await convert({ from: "markdown", bytes, to: "update", base, append: true });
  return Y.mergeUpdates([base, update as Uint8Array]);
};
const text = (words: string, styles = {}) => ({ type: "text", text: words, styles });
/** A document's tree with its attributes and marks. */
const treeOf = (bytes: Uint8Array): unknown => {
  const doc = new Y.Doc();
  Y.applyUpdate(doc, bytes);
  const tree = (from: Y.XmlFragment | Y.XmlText): unknown =>
    from instanceof Y.XmlText
      ? from.toDelta()
      : [
          from instanceof Y.XmlElement ? [from.nodeName, from.getAttributes()] : [],
          from.toArray().map((inner) => tree(inner as Y.XmlFragment)),
        ];
  return tree(doc.getXmlFragment("document-store"));
};

const MARKS: readonly [name: string, value: unknown, styles: object][] = [
  ["bold", {}, { bold: true }],
  ["italic", {}, { italic: true }],
  ["underline", {}, { underline: true }],
  ["strike", {}, { strike: true }],
  ["code", {}, { code: true }],
  ["textColor", { stringValue: "red" }, { textColor: "red" }],
  ["backgroundColor", { stringValue: "blue" }, { backgroundColor: "blue" }],
  ["comment", { threadId: "t", orphan: false }, {}],
  ["comment--AbCd+/12", { threadId: "t", orphan: true }, {}],
  ["insertion", { id: 1 }, {}],
  ["deletion", { id: 1 }, {}],
  ["modification", { id: 1, type: "mark" }, {}],
  ["ofAnotherEditor", { any: ["value"] }, {}],
  ["bare", true, {}],
];

/** A node, and its block in JSON. */
const BLOCKS: readonly [what: string, ContentNode, object][] = [
  ...["paragraph", "quote", "bulletListItem", "toggleListItem", "numberedListItem", "codeBlock"].map(
    (name): [string, ContentNode, object] => [
      name,
      node(name, ["words"]),
      { type: name, content: [text("words")] },
    ],
  ),
  [
    "a heading",
    node("heading", ["words"], { level: 3, isToggleable: true }),
    { props: { level: 3, isToggleable: true } },
  ],
  ["a checked item", node("checkListItem", ["words"], { checked: true }), { props: { checked: true } }],
  ["a numbered item", node("numberedListItem", ["words"], { start: 4 }), { props: { start: 4 } }],
  ...["image", "video", "audio", "file", "pdf", "embed"].map((name): [string, ContentNode, object] => {
    const props = { url: "https://example.org/a", name: "words", caption: "words", extra: { of: [1] } };
    return [name, node(name, [], props), { type: name, props }];
  }),
  [
    "a callout",
    node("callout", ["words"], { emoji: "💡", backgroundColor: "yellow", textAlignment: "left" }),
    { type: "callout", props: { emoji: "💡", backgroundColor: "yellow" }, content: [text("words")] },
  ],
  [
    "an upload",
    node("uploadLoader", [], { information: "", type: "loading", blockUploadName: "words" }),
    { type: "uploadLoader", props: { blockUploadName: "words", type: "loading" } },
  ],
  [
    "a warning of an upload",
    node("uploadLoader", [], { information: "words", type: "warning" }),
    { type: "uploadLoader", props: { information: "words" } },
  ],
  [
    "an unknown block",
    node("poll", [node("question", ["some ", ["words", { bold: {} }]]), node("empty")], { votes: 3 }),
    {
      type: "poll",
      props: { votes: 3 },
      content: [
        { type: "question", content: [text("some "), text("words", { bold: true })] },
        { type: "empty" },
      ],
    },
  ],
  [
    "a property with a name of its own",
    node("paragraph", ["words"], { __proto__x: 1, dir: "rtl" }),
    { props: { dir: "rtl" } },
  ],
  [
    "words in a block that has none",
    node("divider", ["words"]),
    { type: "divider", content: [text("words")] },
  ],
  [
    "a link to another document",
    paragraph("see ", node("interlinkingLinkInline", [], { docId: "d", url: "/docs/d/", title: "words" })),
    {
      content: [
        text("see "),
        { type: "interlinkingLinkInline", props: { docId: "d", url: "/docs/d/", title: "words" } },
      ],
    },
  ],
  [
    "a search for another document",
    paragraph(node("interlinkingSearchInline", ["words"], { trigger: "@", disabled: false })),
    { content: [{ type: "interlinkingSearchInline", props: { trigger: "@" }, content: [text("words")] }] },
  ],
  [
    "an unknown inline node",
    paragraph("by ", node("mention", [], { user: "words" })),
    { content: [text("by "), { type: "mention", props: { user: "words" } }] },
  ],
  [
    "a table",
    node("table", [
      node("tableRow", [node("tableHeader", [node("tableParagraph", ["a"])], { colwidth: [120] })]),
      node("tableRow", [
        node("tableCell", [node("tableParagraph", [["words", { comment: { threadId: "t" } }]])]),
      ]),
    ]),
    {
      content: {
        type: "tableContent",
        columnWidths: [120],
        headerRows: 1,
        rows: [{ cells: [{ content: [text("a")] }] }, { cells: [{ content: [text("words")] }] }],
      },
    },
  ],
];

describe("text of a document", () => {
  it.each(MARKS)("under the mark %s is in each format", async (name, value, styles) => {
    const bytes = state(
      block("a", paragraph("first")),
      block("b", paragraph("before ", ["words", { [name]: value }], " after")),
      block("c", paragraph("last")),
    );
    const content =
      Object.keys(styles).length > 0
        ? [text("before "), text("words", styles), text(" after")]
        : [text("before words after")];
    expect((await json(bytes)).map((one: { content: unknown }) => one.content)).toEqual([
      [text("first")],
      content,
      [text("last")],
    ]);
    for (const to of ["html", "markdown"] as const)
      expect(await shown(bytes, to)).toMatch(/first.*words.*last/s);
  });

  it("under several marks keeps the marks that the editor shows, and the link", async () => {
    const link = { href: "https://example.org/", target: "_blank" };
    const marks = { comment: { threadId: "t" }, bold: {}, link, insertion: { id: 1 } };
    const bytes = state(block("a", paragraph("a ", ["words", marks], " b")));
    expect((await json(bytes))[0].content).toEqual([
      text("a "),
      { type: "link", href: link.href, content: [text("words", { bold: true })] },
      text(" b"),
    ]);
    expect(await shown(bytes, "markdown")).toBe("a **[words](https://example.org/)** b\n");
  });

  it.each(BLOCKS)("in %s is in each format", async (_what, content, wanted) => {
    const bytes = state(block("a", content, block("b", paragraph("inner"))), block("c", paragraph("last")));
    const blocks = await json(bytes);
    expect(blocks).toMatchObject([{ id: "a", ...wanted, children: [{ id: "b" }] }, { id: "c" }]);
    for (const to of ["html", "markdown"] as const)
      expect(await shown(bytes, to)).toMatch(/words.*inner.*last/s);
  });

  it("in columns is in each format", async () => {
    const bytes = state(
      node(
        "columnList",
        [
          node("column", [block("a", paragraph("left"))], { id: "l", width: 0.8 }),
          node("column", [block("b", paragraph("right"))], { id: "r", width: 1.2 }),
        ],
        { id: "list" },
      ),
      block("c", node("pageBreak")),
      block("d", node("divider")),
    );
    expect(await json(bytes)).toMatchObject([
      {
        id: "list",
        type: "columnList",
        children: [
          { id: "l", type: "column", props: { width: 0.8 }, children: [{ id: "a", type: "paragraph" }] },
          { id: "r", type: "column", props: { width: 1.2 }, children: [{ id: "b" }] },
        ],
      },
      { id: "c", type: "pageBreak" },
      { id: "d", type: "divider" },
    ]);
    expect(await shown(bytes, "markdown")).toBe("left\n\nright\n\n***\n\n***\n");
    expect(await shown(bytes, "html")).toMatch(/left<\/p>.*right<\/p><hr.*<hr/s);
  });

  it("is shown everywhere, even where an editor would not put it", async () => {
    const doc = new Y.Doc();
    const fragment = doc.getXmlFragment("document-store");
    fragment.insert(0, [
      element(node("blockGroup", [block("a", paragraph("one"))])),
      element(node("blockGroup", [block("b", paragraph("two")), paragraph("three"), "four"])),
      element(node("blockContainer", [paragraph("five"), paragraph("six"), "seven"], { id: "c" })),
      element(node("tableRow", [node("tableCell", ["eight"])])),
    ]);
    const bytes = Y.encodeStateAsUpdate(doc);
    for (const to of ["json", "html", "markdown"] as const)
      expect(await shown(bytes, to)).toMatch(/one.*two.*three.*four.*five.*seven.*six.*eight/s);
  });
});

describe("appending text", () => {
  it("keeps every block, mark and attribute, and adds the text at the end", async () => {
    const blocks = BLOCKS.map(([, content], at) => block(`b${at}`, content));
    const marked = MARKS.map(([name, value], at) => block(`m${at}`, paragraph(["words", { [name]: value }])));
    const before = state(...blocks, ...marked);
    const after = await append(before, "# Title\n\n- item\n");
    const [was, now] = [await json(before), await json(after)];
    expect(now.slice(0, -2)).toEqual(was);
    expect(now.slice(-2)).toMatchObject([
      { type: "heading", content: [text("Title")] },
      { type: "bulletListItem", content: [text("item")] },
    ]);
    const [[, [[, old]]], [, [[, all]]]] = [treeOf(before), treeOf(after)] as [
      [unknown, [[unknown, unknown[]]]],
      [unknown, [[unknown, unknown[]]]],
    ];
    expect(all.slice(0, old.length)).toEqual(old);
  });

  it("is an edit: concurrent changes of others are kept", async () => {
    const before = state(block("a", paragraph("one")));
    const doc = new Y.Doc();
    Y.applyUpdate(doc, await append(before, "added"));
    const other = new Y.Doc();
    Y.applyUpdate(other, before);
    const group = other.getXmlFragment("document-store").get(0) as Y.XmlElement;
    group.insert(0, [element(block("z", paragraph("zero")))]);
    Y.applyUpdate(doc, Y.encodeStateAsUpdate(other));
    expect(await shown(Y.encodeStateAsUpdate(doc), "markdown")).toBe("zero\n\none\n\nadded\n");
  });

  it("to a state without blocks adds the only block", async () => {
    expect(await shown(await append(Y.encodeStateAsUpdate(new Y.Doc()), "one"), "markdown")).toBe("one\n");
  });

  it("keeps every kind of Markdown block", async () => {
    const written = [
      "# one",
      "## two",
      "###### six",
      "words **bold** *italic* ~~gone~~ `code`",
      "> quote",
      "* item",
      "* [ ] open",
      "* [x] done",
      "***",
      "```js\nlet a = 1;\nb\n```",
      "[link](https://example.org/)",
      "1. first",
    ];
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(written, { minLength: 1 }), async (parts) => {
        let bytes = Y.encodeStateAsUpdate(new Y.Doc());
        for (const part of parts) bytes = await append(bytes, part);
        const markdown = await shown(bytes, "markdown");
        const again = await append(Y.encodeStateAsUpdate(new Y.Doc()), markdown);
        expect(await shown(again, "markdown")).toBe(markdown);
        for (const part of parts) expect(markdown).toContain(part.replace(/^\* (?!\[)|^1\. /, ""));
      }),
      { numRuns: 30 },
    );
  });
});

describe("a large text", () => {
  const LINES = 65_000;
  it("of 65,000 lines in one paragraph is shown and appended", async () => {
    const bytes = Buffer.from("line\n".repeat(LINES));
    for (const to of ["json", "html", "markdown"] as const)
      expect(String(await convert({ from: "plain", bytes, to })).match(/line/g)).toHaveLength(LINES);
    const added = await append(state(block("a", paragraph("one"))), bytes.toString());
    expect((await shown(added, "json")).match(/line/g)).toHaveLength(LINES);
  }, 120_000);
});
