import { expect, it } from "vitest";
import { bodyOf, textOfBody, writtenOf } from "./comment-body.ts";

it("the text of a body is what was typed, after what it is about", () => {
  expect(textOfBody(bodyOf("one\n\ntwo"))).toBe("one\n\ntwo");
  expect(textOfBody(bodyOf("why?", { quote: "the plan" }))).toBe("“the plan”\nwhy?");
});

it("bodies of other clients are read: text, nested blocks, links, mentions, and what nobody expects", () => {
  expect(textOfBody("plain")).toBe("plain");
  const link = { type: "link", href: "javascript:alert(1)", content: [{ type: "text", text: "here" }] };
  const mention = { type: "mention", props: { user: "1", name: "Ana" } };
  const text = (value: string): unknown => ({ type: "text", text: value, styles: {} });
  expect(
    textOfBody([
      { type: "bulletListItem", content: [text("see "), mention], children: [{ content: [text("below")] }] },
      { type: "paragraph", content: [link] },
    ]),
  ).toBe("see @Ana\nbelow\nhere");
  for (const odd of [null, 7, {}, [], [[[]]], { content: { content: 1 } }, { type: "mention", props: null }])
    expect(typeof textOfBody(odd)).toBe("string");
});

it("names after @ are mentions if the user chose them", () => {
  const mentions = new Map([
    ["Ana", "1"],
    ["Ana Lind", "2"],
  ]);
  const body = bodyOf("@Ana Lind and @Ana, not @Ben or a@b", { mentions });
  expect(body).toEqual([
    {
      type: "paragraph",
      content: [
        { type: "mention", props: { user: "2", name: "Ana Lind" } },
        { type: "text", text: " and ", styles: {} },
        { type: "mention", props: { user: "1", name: "Ana" } },
        { type: "text", text: ", not @Ben or a@b", styles: {} },
      ],
    },
  ]);
  expect(textOfBody(body)).toBe("@Ana Lind and @Ana, not @Ben or a@b");
});

it("a body is what was written, with its quote and mentions, also after an edit", () => {
  const mentions = new Map([["Ana Lind", "2"]]);
  const body = bodyOf("@Ana Lind, why?\nTell me.", { quote: "the plan", mentions });
  expect(writtenOf(body)).toEqual({ text: "@Ana Lind, why?\nTell me.", quote: "the plan", mentions });
  const { text, ...others } = writtenOf(body);
  expect(bodyOf(text, others)).toEqual(body);
  const said = bodyOf("“No”");
  expect(writtenOf(said)).toEqual({ text: "“No”", quote: "", mentions: new Map() });
  for (const odd of [null, 7, "plain", {}, [null], [[]]]) expect(typeof writtenOf(odd).text).toBe("string");
});
