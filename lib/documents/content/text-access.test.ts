import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as Y from "yjs";
import { documentCallHandler } from "../../app/compose.ts";
import { convert } from "../../conversion/convert.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { createDocument } from "../records/create.ts";
import { readDocument } from "../records/read.ts";
import { getOrCreateOwner } from "../users/users.ts";
import { readCurrentContent } from "./read.ts";
import { saveContent } from "./save.ts";

let test: TestDeps;
let id: string;
const boss = () => getOrCreateOwner(test.deps, "owner@weft.local");
beforeEach(async () => {
  test = await testDeps({
    converter: { convert: async (conversion) => ({ ok: true, value: await convert(conversion) }) },
  });
  id = (await createDocument(test.deps, await boss(), { title: "Notes" })).document.id;
});
afterEach(() => test.close());

const by = (call: number) => ({
  call: `11111111-1111-4111-8111-11111111111${call}`,
  cause: { run_id: "run", workflow_name: "w", hop: 0 },
});
const read = () => documentCallHandler(test.deps)({ of: "text of document", id }, by(0));
const append = (text: string, call = 1) =>
  documentCallHandler(test.deps)({ of: "more text", id, text }, by(call));

/** An editor's document: a paragraph with a comment on a part of it, and a block that only that editor defines. */
function edited(): Uint8Array {
  const doc = new Y.Doc();
  const group = new Y.XmlElement("blockGroup");
  doc.getXmlFragment("document-store").insert(0, [group]);
  const text = new Y.XmlText();
  text.applyDelta([
    { insert: "before " },
    { insert: "commented", attributes: { comment: { threadId: "t", orphan: false } } },
  ]);
  const [paragraph, poll] = [new Y.XmlElement("paragraph"), new Y.XmlElement("poll")];
  paragraph.insert(0, [text]);
  poll.setAttribute("question", "why");
  group.insert(
    0,
    [paragraph, poll].map((content, at) => {
      const container = new Y.XmlElement("blockContainer");
      container.setAttribute("id", `b${at}`);
      container.insert(0, [content]);
      return container;
    }),
  );
  return Y.encodeStateAsUpdate(doc);
}

describe("text that a script appends to an editor's document", () => {
  it("keeps comments, unknown blocks and the history", async () => {
    const bytes = edited();
    const seen = await readDocument(test.deps, await boss(), id);
    await saveContent(test.deps, seen, { bytes, kind: "yjs" });
    expect(await read()).toBe("before commented\n");
    await append("- item\n");
    expect(await read()).toBe("before commented\n\n* item\n");
    const { document } = await readDocument(test.deps, await boss(), id);
    const after = (await readCurrentContent(test.deps, document))?.bytes ?? new Uint8Array();
    const doc = new Y.Doc();
    Y.applyUpdate(doc, bytes);
    const was = Y.encodeStateVector(doc);
    Y.applyUpdate(doc, after);
    // The editor's state stays valid: the appended block is the only change.
    expect(doc.getXmlFragment("document-store").toString()).toMatch(
      /<poll question="why"><\/poll><\/blockcontainer><blockcontainer.*item/s,
    );
    expect(doc.getXmlFragment("document-store").toString()).toContain("<comment");
    expect(Y.diffUpdate(after, was).length).toBeLessThan(after.length / 2);
  });
});

describe("text that a script appends to plain text", () => {
  it("starts a new line", async () => {
    await append("one");
    await append("two", 2);
    expect(await read()).toBe("one\ntwo");
  });

  it("must not contain NUL", async () => {
    await expect(append("a\u0000b")).rejects.toMatchObject({ code: "bad_request" });
    expect(await read()).toBe("");
  });

  it("must not exceed the maximum size of content", async () => {
    const seen = await readDocument(test.deps, await boss(), id);
    await saveContent(test.deps, seen, { bytes: Buffer.alloc(20 * 1024 * 1024, "a"), kind: "plain" });
    await expect(append("more")).rejects.toMatchObject({ code: "payload_too_large" });
  });
});
