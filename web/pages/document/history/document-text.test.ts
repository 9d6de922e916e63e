import { expect, it } from "vitest";
import * as Y from "yjs";
import { FRAGMENT, textsOf } from "./document-text.ts";

it("mentions and links to documents are part of the text", () => {
  const document = new Y.Doc();
  const element = (
    name: string,
    props: Record<string, string>,
    children: (Y.XmlElement | Y.XmlText)[] = [],
  ) => {
    const made = new Y.XmlElement(name);
    for (const [key, value] of Object.entries(props)) made.setAttribute(key, value);
    made.insert(0, children);
    return made;
  };
  const paragraph = element("paragraph", {}, [
    new Y.XmlText("Ask "),
    element("mention", { user: "u", name: "Ada" }),
    new Y.XmlText(" about "),
    element("interlinkingLinkInline", { docId: "d", title: "The plan" }),
  ]);
  const group = element("blockGroup", {}, [element("blockContainer", { id: "a" }, [paragraph])]);
  document.getXmlFragment(FRAGMENT).insert(0, [group]);
  expect(textsOf(document)).toEqual(["Ask @Ada about The plan"]);
});
