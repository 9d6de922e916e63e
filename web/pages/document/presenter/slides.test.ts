import { expect, it } from "vitest";
import { slidesOf } from "./slides.ts";

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
