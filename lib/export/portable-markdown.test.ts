import fc from "fast-check";
import { expect, it } from "vitest";
import { convert } from "../conversion/convert.ts";
import { restoreFencedBlocks } from "../conversion/fenced-blocks.ts";
import type { Block } from "../conversion/read-blocks.ts";
import { writePortableMarkdown } from "./portable-markdown.ts";

const DEFAULTS = { backgroundColor: "default", textColor: "default", textAlignment: "left" };

/** The blocks that the editor's parser makes from Markdown, with fenced blocks restored. */
async function parsed(markdown: string): Promise<unknown[]> {
  const state = await convert({ from: "markdown", bytes: Buffer.from(markdown), to: "yjs" });
  const blocks = await convert({ from: "yjs", bytes: state as Uint8Array, to: "json" });
  return withoutIds(restoreFencedBlocks(JSON.parse(String(blocks)) as Block[]));
}
const withoutIds = (blocks: readonly Block[]): unknown[] =>
  blocks.map(({ id: _id, ...block }) =>
    JSON.parse(JSON.stringify({ ...block, children: withoutIds(block.children) })),
  );

const word = fc.constantFrom(
  ...[
    "word",
    "a",
    "1.",
    "-",
    "#",
    ">",
    "*x*",
    "_y_",
    "`c`",
    "<b>",
    "&amp;",
    "[l](u)",
    "|",
    "~~",
    "\\",
    "=",
    "+",
  ],
  ...["日本語", "é", "🙂", "!", "---", "1)", "http://e.example", "<!--", "x_y_z", "**", "$m$", "weft:", "::"],
);
const text = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(" "));
const styles = fc.record(
  {
    bold: fc.constant(true),
    italic: fc.constant(true),
    strike: fc.constant(true),
    code: fc.constant(true),
    underline: fc.constant(true),
    textColor: fc.constant("red"),
  },
  { requiredKeys: [] },
);
/** Neighbors with equal styles would be one text. */
const inline = fc
  .array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({ type: fc.constant("text" as const), text, styles: fc.constant({}) }),
      },
      { weight: 2, arbitrary: fc.record({ type: fc.constant("text" as const), text, styles }) },
      fc.record({
        type: fc.constant("link" as const),
        href: fc.constantFrom(
          "https://e.example/?a=1&b=2",
          "Other%20page.md",
          "../x/y.md",
          "mailto:a@e.example",
          "https://e.example/a_(b)",
        ),
        content: text.map((one) => [{ type: "text" as const, text: one, styles: {} }]),
      }),
    ),
    { minLength: 1, maxLength: 3 },
  )
  .filter((parts) =>
    parts.every((one, at) => {
      const next = parts[at + 1];
      return (
        next === undefined ||
        JSON.stringify({ ...one, text: "", content: "" }) !==
          JSON.stringify({ ...next, text: "", content: "" })
      );
    }),
  )
  .filter(
    (parts) =>
      !parts.some((one) => one.type === "text" && "code" in one.styles && Object.keys(one.styles).length > 1),
  );

const props = (own: Record<string, unknown> = {}) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant({ ...DEFAULTS, ...own }) },
    fc.constant({ ...DEFAULTS, ...own, textAlignment: "center" }),
  );
const made = (type: string, own: fc.Arbitrary<Record<string, unknown>>, content: fc.Arbitrary<unknown>) =>
  fc.record({ type: fc.constant(type), props: own, content, children: fc.constant([]) });
const { block } = fc.letrec<{ block: unknown; leaf: unknown; item: unknown }>((tie) => ({
  leaf: fc.oneof(
    made("paragraph", props(), inline),
    made("paragraph", props(), fc.constant([])),
    fc
      .integer({ min: 1, max: 6 })
      .chain((level) => made("heading", props({ level, isToggleable: false }), inline)),
    made("quote", fc.constant({ backgroundColor: "default", textColor: "default" }), inline),
    made(
      "codeBlock",
      fc.constantFrom({ language: "js" }, { language: "weft:x" }),
      text.map((one) => [{ type: "text", text: one, styles: {} }]),
    ),
    made("callout", fc.constant({ emoji: "!" }), inline),
    made("pageBreak", fc.constant({}), fc.constant(undefined)),
    made("divider", fc.constant({}), fc.constant(undefined)),
  ),
  item: fc.oneof(
    ...["bulletListItem", "numberedListItem"].map((type) =>
      fc.record({
        type: fc.constant(type),
        props: props(),
        content: inline,
        children: fc.oneof({ maxDepth: 2 }, fc.constant([]), fc.array(tie("block"), { maxLength: 2 })),
      }),
    ),
    fc.boolean().chain((checked) => made("checkListItem", props({ checked }), inline)),
  ),
  block: fc.oneof({ maxDepth: 3 }, tie("leaf"), tie("item")),
}));

it("Markdown of an archive gives the same blocks back, whatever they contain", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(block, { maxLength: 5 }), async (given) => {
      const blocks = [
        ...given,
        {
          type: "paragraph",
          props: DEFAULTS,
          content: [{ type: "text", text: "end", styles: {} }],
          children: [],
        },
      ];
      const markdown = writePortableMarkdown(blocks as Block[]);
      expect(await parsed(markdown), markdown).toEqual(withoutIds(blocks as Block[]));
    }),
    { numRuns: 150 },
  );
}, 120_000);

it("a link after an exclamation mark is no image", async () => {
  const link = {
    type: "link",
    href: "https://e.example/",
    content: [{ type: "text", text: "now", styles: {} }],
  };
  const content = [{ type: "text", text: "Read!", styles: {} }, link];
  const given = [{ type: "paragraph", props: DEFAULTS, content, children: [] }] as unknown as Block[];
  expect(await parsed(writePortableMarkdown(given))).toEqual(withoutIds(given));
});

it("common blocks are plain Markdown", () => {
  const plain = (
    type: string,
    own: Record<string, unknown>,
    value: string,
    children: Block[] = [],
  ): Block => ({
    id: "x",
    type,
    props: { ...DEFAULTS, ...own },
    content: [{ type: "text", text: value, styles: {} }],
    children,
  });
  const markdown = writePortableMarkdown([
    plain("heading", { level: 2, isToggleable: false }, "Title"),
    plain("paragraph", {}, "1. is not a list"),
    plain("bulletListItem", {}, "one", [plain("bulletListItem", {}, "below")]),
    plain("numberedListItem", {}, "first"),
    plain("numberedListItem", {}, "second"),
    plain("checkListItem", { checked: true }, "done"),
  ]);
  expect(markdown).toBe(
    "## Title\n\n1\\. is not a list\n\n- one\n  - below\n\n1. first\n2. second\n\n- [x] done\n",
  );
});
