import { expect, it } from "vitest";
import * as Y from "yjs";
import { unknownNodes } from "./unknown-nodes.ts";

const element = (name: string, ...children: (Y.XmlElement | Y.XmlText)[]): Y.XmlElement => {
  const created = new Y.XmlElement(name);
  created.insert(0, children);
  return created;
};
const namesIn = (root: Y.XmlElement): readonly string[] => {
  const fragment = new Y.Doc().getXmlFragment("document-store");
  fragment.insert(0, [root]);
  return unknownNodes(fragment, {
    blockSchema: { paragraph: {}, table: {} },
    inlineContentSchema: { text: {}, mention: {} },
  });
};
const block = (content: Y.XmlElement): Y.XmlElement => element("blockContainer", content);

it("all nodes of the editor are known", () => {
  const row = element("tableRow", element("tableCell", element("tableParagraph", new Y.XmlText("x"))));
  const text = element("paragraph", new Y.XmlText("x"), element("mention"), element("hardBreak"));
  expect(namesIn(element("blockGroup", block(text), block(element("table", row))))).toEqual([]);
});

it("others are found at any depth", () => {
  const columns = element("columnList", element("column", block(element("paragraph"))));
  const nested = block(element("paragraph", element("stranger")));
  expect(new Set(namesIn(element("blockGroup", columns, nested)))).toEqual(
    new Set(["columnList", "column", "stranger"]),
  );
});
