import { ServerBlockNoteEditor } from "@blocknote/server-util";
import fc from "fast-check";
import { expect, it } from "vitest";
import * as Y from "yjs";
import { convert } from "./convert.ts";
import { makeSafeForMarkdown } from "./markdown-safe.ts";
import { createSanitizer } from "./sanitize.ts";

const FRAGMENT = "document-store";
const editor = ServerBlockNoteEditor.create();
type Parts = Parameters<typeof editor.blocksToYDoc>[0];

const text = fc.oneof(
  fc.lorem({ maxCount: 6 }),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }),
  fc.constantFrom("<b>a</b>", "&amp;&lt;", "[a](b)", "a\u00a0b"),
);
const color = fc.constantFrom("default", "red", "blue");
const styles = fc.record(
  {
    bold: fc.constant(true),
    italic: fc.constant(true),
    underline: fc.constant(true),
    strike: fc.constant(true),
    code: fc.constant(true),
    textColor: color,
    backgroundColor: color,
  },
  { requiredKeys: [] },
);
const styled = fc.record({ type: fc.constant("text"), text, styles });
const address = fc.oneof(
  fc.webUrl(),
  fc.constantFrom("javascript:alert(1)", "/a b", '"><svg onload=x>', "http://a.aa/?b=1&amp;c=2&quot;"),
);
const link = fc.record({
  type: fc.constant("link"),
  href: address,
  content: fc.array(styled, { minLength: 1, maxLength: 2 }),
});
const inline = fc.array(fc.oneof(styled, link), { maxLength: 4 });
const props = fc.record(
  {
    textColor: color,
    backgroundColor: color,
    textAlignment: fc.constantFrom("left", "center", "right", "justify"),
  },
  { requiredKeys: [] },
);
const textual = fc.oneof(
  fc.record({
    type: fc.constantFrom("paragraph", "bulletListItem", "numberedListItem", "toggleListItem", "quote"),
    content: inline,
  }),
  fc.record({ type: fc.constant("paragraph"), props, content: inline }),
  fc.record({
    type: fc.constant("heading"),
    content: inline,
    props: fc.record({ level: fc.integer({ min: 1, max: 6 }) }),
  }),
  fc.record({
    type: fc.constant("checkListItem"),
    content: inline,
    props: fc.record({ checked: fc.boolean() }),
  }),
  fc.record({
    type: fc.constant("numberedListItem"),
    content: inline,
    props: fc.record({ start: fc.integer({ min: 1, max: 9 }) }),
  }),
  fc.record({
    type: fc.constant("codeBlock"),
    content: text,
    props: fc.record({ language: fc.constantFrom("text", "javascript") }),
  }),
  fc.record({
    type: fc.constantFrom("image", "video", "audio", "file"),
    props: fc.record({ url: address, name: text, caption: text }),
  }),
  fc.record({ type: fc.constant("divider") }),
  fc.array(fc.array(inline, { minLength: 2, maxLength: 2 }), { minLength: 1, maxLength: 3 }).map((rows) => ({
    type: "table",
    content: {
      type: "tableContent",
      rows: rows.map((cells) => ({ cells })),
      columnWidths: [120, undefined],
      headerRows: rows.length - 1,
    },
  })),
);
const block = fc.oneof(
  { weight: 3, arbitrary: textual },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constantFrom("paragraph", "bulletListItem"),
      content: inline,
      children: fc.array(textual, { minLength: 1, maxLength: 3 }),
    }),
  },
);

/** The part of jsdom that the test uses. */
interface Styled {
  getAttribute(name: string): string;
  setAttribute(name: string, value: string): void;
  readonly style: { cssText: string };
}
interface Tree {
  querySelectorAll(selector: string): Iterable<Styled>;
  isEqualNode(other: Tree): boolean;
}

interface Dom {
  readonly document: { createElement(name: "template"): { innerHTML: string; readonly content: unknown } };
}

it("reads and writes the same as the editor does with a browser's DOM, for any blocks", async () => {
  const { window } = (editor as unknown as { jsdom: { window: Dom } }).jsdom;
  const sanitize = createSanitizer(window);
  const parsed = (html: string): Tree => {
    const template = window.document.createElement("template");
    template.innerHTML = html;
    const tree = template.content as Tree;
    // Colors may have another notation.
    for (const element of tree.querySelectorAll("[style]")) {
      element.style.cssText = element.getAttribute("style");
      element.setAttribute("style", element.style.cssText);
    }
    return tree;
  };
  await fc.assert(
    fc.asyncProperty(fc.array(block, { minLength: 1, maxLength: 6 }), async (parts) => {
      const doc = editor.blocksToYDoc(parts as unknown as Parts, FRAGMENT);
      const bytes = Y.encodeStateAsUpdate(doc);
      const blocks = () => editor.yDocToBlocks(doc, FRAGMENT);

      expect(JSON.parse(String(await convert({ from: "yjs", bytes, to: "json" })))).toEqual(
        JSON.parse(JSON.stringify(blocks())),
      );
      const html = String(await convert({ from: "yjs", bytes, to: "html" }));
      const wanted = sanitize(await editor.blocksToHTMLLossy(blocks()));
      // Attributes may have another order.
      if (!parsed(html).isEqualNode(parsed(wanted))) expect(html).toBe(wanted);

      const safe = blocks();
      makeSafeForMarkdown(safe);
      const markdown = await editor.blocksToMarkdownLossy(safe);
      expect(await convert({ from: "yjs", bytes, to: "markdown" })).toBe(markdown);
    }),
    { numRuns: 150 },
  );
}, 120_000);
