import { ServerBlockNoteEditor } from "@blocknote/server-util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as Y from "yjs";
import { convert } from "./convert.ts";

const FRAGMENT = "document-store";
const editor = ServerBlockNoteEditor.create();
type Blocks = Parameters<typeof editor.blocksToYDoc>[0];

interface Shown {
  readonly id: string;
  readonly type: string;
  readonly content?: unknown;
  readonly children: readonly Shown[];
}

const stateOf = (doc: Y.Doc): Uint8Array => Y.encodeStateAsUpdate(doc);
const docOf = (...updates: Uint8Array[]): Y.Doc => {
  const doc = new Y.Doc();
  for (const update of updates) if (update.length > 0) Y.applyUpdate(doc, update);
  return doc;
};
const written = (blocks: readonly object[]): Uint8Array =>
  stateOf(editor.blocksToYDoc(blocks as unknown as Blocks, FRAGMENT));
const edit = async (
  base: Uint8Array,
  bytes: Uint8Array | string,
  from: "yjs" | "plain" | "markdown" = typeof bytes === "string" ? "markdown" : "yjs",
  append = false,
): Promise<Uint8Array> =>
  (await convert({ from, bytes: Buffer.from(bytes), to: "update", base, append })) as Uint8Array;
const blocksOf = async (...updates: Uint8Array[]): Promise<Shown[]> =>
  JSON.parse(String(await convert({ from: "yjs", bytes: stateOf(docOf(...updates)), to: "json" })));
const markdownOf = async (...updates: Uint8Array[]): Promise<string> =>
  String(await convert({ from: "yjs", bytes: stateOf(docOf(...updates)), to: "markdown" }));
const withoutIds = (blocks: readonly Shown[]): object[] =>
  blocks.map(({ id: _, children, ...block }) => ({ ...block, children: withoutIds(children) }));
const idsOf = (blocks: readonly Shown[]): string[] =>
  blocks.flatMap(({ id, children }) => [id, ...idsOf(children)]);

/** The texts of a document's blocks, in the order of the document. */
const textsOf = (doc: Y.Doc): Y.XmlText[] => {
  const find = (parent: Y.XmlFragment): Y.XmlText[] =>
    parent.toArray().flatMap((node) => (node instanceof Y.XmlText ? [node] : find(node as Y.XmlElement)));
  return find(doc.getXmlFragment(FRAGMENT));
};
/** The state after a change of one of its texts. */
const typed = (state: Uint8Array, nth: number, change: (text: Y.XmlText) => void): Uint8Array => {
  const doc = docOf(state);
  change(textsOf(doc)[nth] as Y.XmlText);
  return stateOf(doc);
};

const paragraph = (content: string, id?: string): object => ({
  type: "paragraph",
  content,
  ...(id ? { id } : {}),
});

const words = fc.oneof(
  fc.lorem({ maxCount: 8 }),
  fc.constantFrom("same", "", "a 😀 b", "e\u0301te\u0301", "two\nlines"),
);
const styled = fc.record({
  type: fc.constant("text"),
  text: words.filter((text) => text !== ""),
  styles: fc.record(
    { bold: fc.constant(true), textColor: fc.constantFrom("red", "blue") },
    { requiredKeys: [] },
  ),
});
const content = fc.oneof(words, fc.array(styled, { maxLength: 3 }));
const { block } = fc.letrec<{ block: object }>((tie) => ({
  block: fc.oneof(
    { maxDepth: 2 },
    fc.record({ type: fc.constantFrom("paragraph", "bulletListItem", "quote"), content }),
    fc.record({
      type: fc.constant("heading"),
      content,
      props: fc.record({ level: fc.integer({ min: 1, max: 3 }) }),
    }),
    fc.record({ type: fc.constant("divider") }),
    fc.record({ type: fc.constant("image"), props: fc.record({ url: fc.webUrl(), caption: words }) }),
    fc
      .array(fc.array(content, { minLength: 2, maxLength: 2 }), { minLength: 1, maxLength: 3 })
      .map((rows) => ({
        type: "table",
        content: { type: "tableContent", rows: rows.map((cells) => ({ cells })) },
      })),
    fc.record({
      type: fc.constantFrom("paragraph", "bulletListItem"),
      content,
      children: fc.array(tie("block"), { minLength: 1, maxLength: 3 }),
    }),
  ),
}));
const named = fc.array(fc.tuple(block, fc.option(fc.constantFrom("a", "b", "c", "d"))), {
  minLength: 1,
  maxLength: 8,
});
/** Blocks of which some have an id that the other document may use, too. */
const blocks = named.map((list) => {
  const used = new Set<string>();
  return list.map(([one, id]) => {
    if (id === null || used.has(id)) return one;
    used.add(id);
    return { ...one, id };
  });
});

describe("an edit", () => {
  it("gives any document the content of any other, and every block an id of its own", async () => {
    await fc.assert(
      fc.asyncProperty(blocks, blocks, async (before, after) => {
        const [base, target] = [written(before), written(after)];
        const update = await edit(base, target);
        const shown = await blocksOf(base, update);
        expect(withoutIds(shown)).toEqual(withoutIds(await blocksOf(target)));
        expect(new Set(idsOf(shown)).size).toBe(idsOf(shown).length);
        expect(await edit(stateOf(docOf(base, update)), target)).toHaveLength(0);
      }),
      { numRuns: 150 },
    );
  }, 120_000);

  it("keeps what others type meanwhile in the blocks that it does not touch", async () => {
    const texts = fc.uniqueArray(fc.lorem({ maxCount: 4 }), { minLength: 3, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(texts, fc.nat(), fc.nat(), fc.boolean(), async (lines, one, other, isRemade) => {
        const [changed, untouched] = [one % lines.length, other % lines.length];
        fc.pre(changed !== untouched);
        const ids = (text: string, at: number): object => paragraph(text, `b${at}`);
        const base = written(lines.map(ids));
        const wanted = lines.map((line, at) => (at === changed ? `${line} and more` : line));
        // Made again, its blocks have other ids, as those of another document.
        const target = written(isRemade ? wanted.map((line) => paragraph(line)) : wanted.map(ids));
        const update = await edit(base, target);
        const client = typed(base, untouched, (text) => text.insert(1, "TYPED"));
        const merged = [docOf(base, update, client), docOf(client, update)].map(stateOf) as [
          Uint8Array,
          Uint8Array,
        ];
        const expected = wanted.map((line, at) =>
          at === untouched ? `${line[0]}TYPED${line.slice(1)}` : line,
        );
        for (const state of merged) expect(textsOf(docOf(state)).map(String)).toEqual(expected);
        expect(idsOf(await blocksOf(merged[0]))).toEqual(lines.map((_, at) => `b${at}`));
      }),
      { numRuns: 60 },
    );
  }, 60_000);

  it("is as small as the difference, and empty without one", async () => {
    const lines = Array.from({ length: 200 }, (_, at) => `Paragraph ${at} of a document with many words`);
    const base = written(lines.map((line) => paragraph(line)));
    const target = written(
      lines.map((line, at) => paragraph(at === 77 ? line.replace("many", "some") : line)),
    );
    expect((await edit(base, target)).length).toBeLessThan(100);
    expect((await edit(base, lines.join("\n\n"))).length).toBe(0);
    expect((await edit(base, lines.join("\n\n"), "plain")).length).toBe(0);
    expect(await edit(base, base)).toHaveLength(0);
    const moved = written([...lines.slice(1), lines[0] as string].map((line) => paragraph(line)));
    expect((await edit(base, moved)).length).toBeLessThan(600);
  });

  it("of a word keeps the text around it, for those who are typing there", async () => {
    const base = written([paragraph("The quick brown fox jumps", "a")]);
    const update = await edit(base, written([paragraph("The slow brown cat jumps", "a")]));
    const client = typed(base, 0, (text) => text.insert(10, "dark "));
    expect(textsOf(docOf(client, update)).map(String)).toEqual(["The slow dark brown cat jumps"]);
  });

  it("sets an older content back, and keeps comments that were added since on text that stays", async () => {
    const older = written([paragraph("one", "a"), paragraph("two", "b")]);
    const comment = { "comment--AbCd+/12": { threadId: "t", orphan: false } };
    let base = typed(older, 0, (text) => text.format(0, 3, comment));
    base = typed(base, 1, (text) => text.insert(3, " changed"));
    const restored = docOf(base, await edit(base, older));
    expect(textsOf(restored).map((text) => text.toDelta())).toEqual([
      [{ insert: "one", attributes: comment }],
      [{ insert: "two" }],
    ]);
    const withComment = typed(older, 1, (text) => text.format(0, 3, comment));
    const commented = docOf(older, await edit(older, withComment));
    expect(textsOf(commented)[1]?.toDelta()).toEqual([{ insert: "two", attributes: comment }]);
  });

  it("to a content without blocks leaves one empty block, which editors share", async () => {
    const base = written([paragraph("one"), paragraph("two")]);
    for (const nothing of [stateOf(new Y.Doc()), ""]) {
      const shown = await blocksOf(base, await edit(base, nothing));
      expect(withoutIds(shown)).toMatchObject([{ type: "paragraph", content: [] }]);
    }
  });

  it("refuses what is no document, and keeps what no editor's schema knows", async () => {
    const base = written([paragraph("one")]);
    await expect(edit(base, Buffer.from("no state"), "yjs")).rejects.toThrow();
    await expect(edit(base, base, "yjs", true)).rejects.toThrow("cannot be appended");
    const unknown = docOf(base);
    const group = unknown.getXmlFragment(FRAGMENT).get(0) as Y.XmlElement;
    const container = new Y.XmlElement("blockContainer");
    const callout = new Y.XmlElement<Record<string, never>>("callout");
    container.setAttribute("id", "c");
    callout.setAttribute("emoji", "💡" as never);
    callout.insert(0, [new Y.XmlText("note")]);
    container.insert(0, [callout as unknown as Y.XmlElement]);
    group.insert(0, [container]);
    const target = stateOf(unknown);
    const there = docOf(base, await edit(base, target));
    expect(there.getXmlFragment(FRAGMENT).toJSON()).toBe(unknown.getXmlFragment(FRAGMENT).toJSON());
    expect(await blocksOf(target, await edit(target, base))).toHaveLength(1);
    // A change elsewhere, in Markdown that shows the callout as a quote.
    const markdown = (await markdownOf(target)).replace("one", "one more");
    const update = await edit(target, markdown);
    expect(docOf(target, update).getXmlFragment(FRAGMENT).toJSON()).toBe(
      unknown.getXmlFragment(FRAGMENT).toJSON().replace("one", "one more"),
    );
  });
});

describe("Markdown", () => {
  it("with one changed line keeps comments, colors, and the ids of all blocks", async () => {
    const colored = { type: "heading", id: "h", props: { level: 2, textColor: "red" }, content: "Title" };
    const list = {
      type: "bulletListItem",
      id: "l",
      content: "item",
      children: [{ type: "bulletListItem", id: "i", content: "inner" }],
    };
    const table = {
      type: "table",
      id: "t",
      content: { type: "tableContent", rows: [{ cells: ["a", "b"] }] },
    };
    const base = typed(
      written([colored, paragraph("first line", "a"), list, paragraph("second line", "b"), table]),
      1,
      (text) => text.format(0, 5, { comment: { threadId: "t" }, underline: {} }),
    );
    const before = await blocksOf(base);
    const markdown = await markdownOf(base);
    const update = await edit(base, markdown.replace("second line", "second **changed** line"));
    const after = await blocksOf(base, update);
    expect(idsOf(after)).toEqual(idsOf(before));
    expect(after.filter(({ id }) => id !== "b")).toEqual(before.filter(({ id }) => id !== "b"));
    expect(textsOf(docOf(base, update))[1]?.toDelta()[0]).toEqual({
      insert: "first",
      attributes: { comment: { threadId: "t" }, underline: {} },
    });
    expect(await markdownOf(base, update)).toContain("second **changed** line");
  });

  it("of any document writes nothing when it is written back, unless it is ambiguous", async () => {
    const plain = fc.array(
      fc.oneof(
        fc.record({ type: fc.constantFrom("paragraph", "quote"), content: fc.lorem({ maxCount: 5 }) }),
        fc.record({ type: fc.constant("heading"), content: fc.lorem({ maxCount: 5 }) }),
        fc.record({
          type: fc.constantFrom("bulletListItem", "paragraph"),
          content: fc.lorem({ maxCount: 5 }),
          children: fc.array(fc.record({ type: fc.constant("bulletListItem"), content: fc.lorem() }), {
            maxLength: 2,
          }),
        }),
      ),
      { minLength: 1, maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(plain, async (list) => {
        const base = written(list);
        const markdown = await markdownOf(base);
        expect(await markdownOf(base, await edit(base, markdown))).toBe(markdown);
      }),
      { numRuns: 60 },
    );
  }, 60_000);

  it("appended to an empty document replaces its empty block, and is appended to any other", async () => {
    const empty = written([{ type: "paragraph", id: "first" }]);
    const [shown] = await blocksOf(empty, await edit(empty, "words", "markdown", true));
    expect(shown).toMatchObject({ id: "first", content: [{ text: "words" }] });
    const base = written([paragraph("one"), { type: "paragraph" }]);
    expect(await blocksOf(base, await edit(base, "# two", "markdown", true))).toMatchObject([
      { content: [{ text: "one" }] },
      { content: [] },
      { type: "heading" },
    ]);
    expect(await edit(base, "", "markdown", true)).toHaveLength(0);
  });
});

it("editing a document of 5,000 blocks takes less than the converter's limit", async () => {
  const lines = Array.from({ length: 5_000 }, (_, at) => `Paragraph ${at}: ${"word ".repeat(30)}`);
  const base = written(lines.map((line) => paragraph(line)));
  const start = performance.now();
  const target = written(lines.map((line, at) => paragraph(at % 3 === 0 ? `${line} changed` : line)));
  const made = performance.now();
  const update = await edit(base, target);
  expect(performance.now() - made).toBeLessThan(Math.max(2_500, 2 * (made - start)));
  expect(textsOf(docOf(base, update)).map(String)).toEqual(textsOf(docOf(target)).map(String));
}, 60_000);
