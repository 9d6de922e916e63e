import { expect, it } from "vitest";
import { slideAt, slidesOf, summarize } from "./slides.ts";

const heading = (level: number) => ({ type: "heading", props: { level }, content: ["x"] });
const text = { type: "paragraph", props: {}, content: ["x"] };
const blank = { type: "paragraph", props: {}, content: [] };
const at = (type: string) => ({ type, props: {}, content: undefined });

it("a slide begins with a heading of the highest level, and after a page break or a divider", () => {
  const [one, two, three] = [heading(2), heading(3), heading(2)];
  expect(slidesOf([text, one, two, text, three, at("pageBreak"), text, at("divider"), text])).toEqual([
    [text],
    [one, two, text],
    [three],
    [text],
    [text],
  ]);
});

it("no slide is blank, and there is always one", () => {
  expect(slidesOf([blank, heading(1), at("pageBreak"), blank, at("pageBreak")])).toEqual([[heading(1)]]);
  expect(slidesOf([])).toEqual([[]]);
  expect(slidesOf([blank])).toEqual([[]]);
});

it("the slide of a block is found, also of a block inside another one, and the one after a break", () => {
  interface Named {
    readonly type: string;
    readonly props: object;
    readonly id: string;
    readonly children: readonly Named[];
  }
  const named = (id: string, block: Pick<Named, "type" | "props">, children: Named[] = []): Named => ({
    ...block,
    id,
    children,
  });
  const blocks = [
    named("blank", blank),
    named("break", at("divider")),
    named("one", heading(1)),
    named("list", text, [named("item", text)]),
    named("page", at("pageBreak")),
    named("last", text),
    named("end", at("pageBreak")),
  ];
  const numbers = ["blank", "break", "one", "item", "page", "last", "end", "gone"].map((id) =>
    slideAt(blocks, id),
  );
  expect(numbers).toEqual([1, 1, 1, 1, 2, 2, 2, 1]);
  expect(slideAt([], "gone")).toBe(1);
});

it("the overview has the first text of a slide and the beginning of the others", () => {
  const words = (...content: readonly unknown[]) => ({ type: "paragraph", props: {}, content });
  const nested = { ...words({ type: "text", text: "below" }), children: [words({ text: "deeper" })] };
  const table = {
    type: "table",
    props: {},
    content: { type: "tableContent", rows: [{ cells: [{ content: [{ text: "a" }] }, [{ text: "b" }]] }] },
  };
  const heading = { type: "heading", props: { level: 1 }, content: [{ type: "text", text: "Title" }] };
  const mention = { type: "mention", props: { user: "1", name: "Ada" } };
  const link = { type: "link", href: "x", content: [{ type: "text", text: "a link" }] };
  expect(summarize([blank, heading, words({ text: "See " }, link, " of ", mention), nested, table])).toEqual({
    title: "Title",
    text: "See a link of @Ada below deeper a b",
  });
  expect(summarize([blank])).toEqual({ title: "", text: "" });
  expect(summarize([words({ text: "x".repeat(1_000) })]).title).toHaveLength(240);
});
