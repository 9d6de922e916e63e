import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as Y from "yjs";
import type { LinkReach, LinkRole } from "#lib/documents/access/links.ts";
import { INDEX_DOCUMENTS_QUEUE } from "#lib/documents/tables/index-messages.ts";
import { compactLog } from "#lib/documents/updates/compact.ts";
import { FRAGMENT } from "#lib/documents/updates/seed.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { createUser, grantRole, setLink, type TestUser } from "#lib/testing/test-documents.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { route as patchContent } from "../content/patch.ts";
import { route as createThread } from "../threads/create.ts";
import { route as deleteThread } from "../threads/delete.ts";
import { route as create } from "./create.ts";
import { route as createChild } from "./create-child.ts";
import { route as remove } from "./delete.ts";
import { route as get } from "./get.ts";
import { route as restore } from "./restore.ts";
import { route as search } from "./search.ts";
import { route as update } from "./update.ts";

let test: TestDeps;
let guest: TestUser;
beforeEach(async () => {
  test = await testDeps();
  guest = await createUser(test.deps, "guest");
});
afterEach(() => test.close());

const as = (token: string | null) => ({ token, headers: { host: "docs.example" } });
const ask = (query: Record<string, string>, token: string | null = TEST_TOKEN) =>
  call(test.deps, search, { query, ...as(token) });
const find = async (q: string, token: string | null = TEST_TOKEN, more: Record<string, string> = {}) => {
  const { status, body } = await ask({ q, ...more }, token);
  expect(status).toBe(200);
  expect(body.count).toBe(body.results.length);
  return body.results.map(({ title }: { title: string }) => title);
};
const highlightsOf = async (q: string, token: string | null = TEST_TOKEN) => {
  const { results } = (await ask({ q }, token)).body;
  return results[0]?.highlights;
};

async function make(title: string, blocks: readonly Block[] = [], parent?: string): Promise<string> {
  test.clock.advance(1);
  const body = { title };
  const made =
    parent === undefined
      ? await call(test.deps, create, { body, ...as(TEST_TOKEN) })
      : await call(test.deps, createChild, { params: { id: parent }, body, ...as(TEST_TOKEN) });
  expect(made.status).toBe(201);
  const { id } = made.body;
  if (blocks.length > 0) await save(id, blocks);
  return id;
}

/** Type, id and text. */
type Block = readonly [type: "heading" | "paragraph", id: string, text: string];

function addBlocks(doc: Y.Doc, blocks: readonly Block[]): void {
  const group = new Y.XmlElement("blockGroup");
  doc.getXmlFragment(FRAGMENT).insert(0, [group]);
  group.push(
    blocks.map(([type, id, text]) => {
      const container = new Y.XmlElement("blockContainer");
      container.setAttribute("id", id);
      const block = new Y.XmlElement(type);
      block.insert(0, [new Y.XmlText(text)]);
      container.insert(0, [block]);
      return container;
    }),
  );
}

async function save(id: string, blocks: readonly Block[]): Promise<void> {
  const doc = new Y.Doc();
  addBlocks(doc, blocks);
  const content = Buffer.from(Y.encodeStateAsUpdate(doc)).toString("base64");
  const { status } = await call(test.deps, patchContent, {
    params: { id },
    body: { content, websocket: true },
    ...as(TEST_TOKEN),
  });
  expect(status).toBe(204);
}

const delayedMessages = async () => (await test.deps.queues.depth(INDEX_DOCUMENTS_QUEUE)).delayed;

/** Opens a document as an editor does. Returns a function that types a text in a paragraph of its own. */
async function openEditor(id: string): Promise<(text: string) => Promise<void>> {
  const doc = new Y.Doc();
  await test.deps.updateLogs.use(id, async (log) => {
    Y.applyUpdate(doc, (await log.read()).state);
  });
  return async (text) => {
    const before = Y.encodeStateVector(doc);
    const group = doc.getXmlFragment(FRAGMENT).get(0) as Y.XmlElement;
    const paragraph = (group.get(0) as Y.XmlElement).get(0) as Y.XmlElement;
    paragraph.insert(paragraph.length, [new Y.XmlText(text)]);
    const bytes = Y.encodeStateAsUpdate(doc, before);
    await test.deps.updateLogs.use(id, (log) => log.append(bytes, { author: null }));
  };
}

const comment = async (id: string, text: string) =>
  (
    await call(test.deps, createThread, {
      params: { id },
      body: { body: [{ type: "paragraph", content: [{ type: "text", text, styles: {} }] }] },
      ...as(TEST_TOKEN),
    })
  ).body;

describe("full-text search", () => {
  it("finds words in contents in any position, ignoring case and accents, best place first", async () => {
    await make("Minutes", [["paragraph", "b1", "The BUDGET of next year: été 2026."]]);
    await make("Plan", [
      ["heading", "h1", "Budget of the department"],
      ["paragraph", "b2", "In summer (Été)."],
    ]);
    await make("Budget été", [["paragraph", "b3", "Nothing."]]);
    await make("Other", [["paragraph", "b4", "Only the budget."]]);
    await test.drain();
    expect(await find("ete budget")).toEqual(["Budget été", "Plan", "Minutes"]);
    expect(await find("budg")).toEqual(["Budget été", "Plan", "Other", "Minutes"]);
    expect(await find('"of next year"')).toEqual(["Minutes"]);
    expect(await find('"next of year"')).toEqual([]);
    expect(await find("budget", TEST_TOKEN, { ordering: "created_at" })).toEqual([
      "Minutes",
      "Plan",
      "Budget été",
      "Other",
    ]);
    expect(await find("budget", TEST_TOKEN, { title: "plan" })).toEqual(["Plan"]);
  });

  it("returns excerpts with the block that matched", async () => {
    const long = `${"Lorem ipsum dolor sit amet. ".repeat(20)}The needle is here. ${"Consetetur. ".repeat(40)}`;
    await make("Stack", [
      ["heading", "h1", "Needles"],
      ["paragraph", "p1", long],
    ]);
    await test.drain();
    const [heading, ...more] = await highlightsOf("needle");
    expect(more).toEqual([]);
    expect(heading).toEqual({
      field: "heading",
      block_id: "h1",
      thread_id: null,
      text: "Needles",
      matches: [{ start: 0, end: 7 }],
    });
    const [paragraph] = await highlightsOf('"needle is here"');
    expect(paragraph).toMatchObject({ field: "body", block_id: "p1" });
    expect(paragraph.text.length).toBeLessThan(210);
    const [{ start, end }] = paragraph.matches;
    expect(paragraph.text.slice(start, end)).toBe("needle is here");
    expect(paragraph.text).toMatch(/^….*…$/s);
  });

  it("finds text in Chinese, Japanese and Korean by any two characters", async () => {
    await make("A", [["paragraph", "b", "東京都は日本の首都です"]]);
    await make("B", [["paragraph", "b", "한국어를 배워요"]]);
    await test.drain();
    expect(await find("京都")).toEqual(["A"]);
    expect(await find("日本の首都")).toEqual(["A"]);
    expect(await find("都")).toEqual(["A"]);
    expect(await find("京日")).toEqual([]);
    expect(await find("한국어")).toEqual(["B"]);
    expect(await highlightsOf("京都")).toMatchObject([{ matches: [{ start: 1, end: 3 }] }]);
  });

  it("finds nothing of documents that the caller cannot read, and counts exactly", async () => {
    const secret = await make("Secret", [["paragraph", "b", "merger with acme"]]);
    const shared = await make("Shared", [["paragraph", "b", "merger notes"]]);
    await grantRole(test.deps, shared, guest.id, "reader");
    await test.drain();
    expect(await find("merger")).toEqual(["Shared", "Secret"]);
    expect(await find("merger", guest.token)).toEqual(["Shared"]);
    expect(await find("acme", guest.token)).toEqual([]);
    expect(await find("merger", null)).toEqual([]);
    await grantRole(test.deps, secret, guest.id, "reader");
    expect(await find("acme", guest.token)).toEqual(["Secret"]);
  });

  it("finds comments for those who may read threads only", async () => {
    const id = await make("Draft", [["paragraph", "b", "text"]]);
    const thread = await comment(id, "Too optimistic, says Grace");
    const commenter = await createUser(test.deps, "commenter");
    await grantRole(test.deps, id, guest.id, "reader");
    await grantRole(test.deps, id, commenter.id, "commenter");
    await test.drain();
    expect(await find("optimistic", guest.token)).toEqual([]);
    expect(await find("optimistic", commenter.token)).toEqual(["Draft"]);
    expect(await highlightsOf("optimistic", commenter.token)).toMatchObject([
      { field: "comment", block_id: null, thread_id: thread.id, text: "Too optimistic, says Grace" },
    ]);
    // A match in the title shows no comment, either.
    await call(test.deps, update, {
      params: { id },
      body: { title: "Optimistic draft", websocket: true },
      ...as(TEST_TOKEN),
    });
    await test.drain();
    const shown = await highlightsOf("optimistic draft grace", guest.token);
    expect(shown).toBeUndefined();
    expect(
      (await highlightsOf("optimistic", guest.token)).map(({ field }: { field: string }) => field),
    ).toEqual(["title"]);
    await call(test.deps, deleteThread, { params: { id, thread: thread.id }, ...as(TEST_TOKEN) });
    await test.drain();
    expect(await find("grace")).toEqual([]);
  });

  it.each<[LinkReach, LinkRole, boolean]>([
    ["public", "reader", false],
    ["public", "commenter", true],
    ["authenticated", "editor", true],
  ])("finds comments through a link: %s %s", async (reach, role, isFound) => {
    const id = await make("Open");
    await comment(id, "hidden remark");
    await setLink(test.deps, id, reach, role);
    await test.drain();
    await call(test.deps, get, { params: { id }, ...as(guest.token) });
    expect(await find("remark", guest.token)).toEqual(isFound ? ["Open"] : []);
    if (reach === "public") {
      const { body } = await ask({ q: "remark", document: id }, null);
      expect(body.count).toBe(isFound ? 1 : 0);
    }
  });

  it("finds in a document and its descendants, in tree order", async () => {
    const root = await make("Root", [["paragraph", "b", "apples"]]);
    const child = await make("Child", [["paragraph", "b", "green apples"]], root);
    await make("Grandchild", [["heading", "b", "Apples"]], child);
    await make("Elsewhere", [["paragraph", "b", "apples"]]);
    await test.drain();
    expect(await find("apples", TEST_TOKEN, { document: root })).toEqual(["Root", "Child", "Grandchild"]);
    expect(await find("apples", TEST_TOKEN, { document: child })).toEqual(["Child", "Grandchild"]);
  });

  it("follows changes of titles, contents and comments, deletion and restoration", async () => {
    const id = await make("First", [["paragraph", "b", "alpha"]]);
    const below = await make("Below", [["paragraph", "b", "beta"]], id);
    await test.drain();
    await call(test.deps, update, {
      params: { id },
      body: { title: "Second", websocket: true },
      ...as(TEST_TOKEN),
    });
    await save(below, [["paragraph", "b", "gamma"]]);
    await test.drain();
    expect(await find("alpha second")).toEqual(["Second"]);
    expect(await find("beta")).toEqual([]);
    expect(await find("gamma")).toEqual(["Below"]);
    await call(test.deps, remove, { params: { id }, ...as(TEST_TOKEN) });
    await test.drain();
    expect(await find("gamma")).toEqual([]);
    expect(await test.deps.fullText.find([{ words: ["alpha"], isPrefix: false }], [{ id }])).toEqual([
      undefined,
    ]);
    await call(test.deps, restore, { params: { id }, ...as(TEST_TOKEN) });
    await test.drain();
    expect(await find("gamma")).toEqual(["Below"]);
    expect(await find("alpha")).toEqual(["Second"]);
  });

  it("finds live edits within two seconds, with one message for all edits of a second", async () => {
    const id = await make("Live");
    await test.drain();
    const type = await openEditor(id);
    await type("typed ");
    for (let number = 0; number < 5; number += 1) await type(`word${number} `);
    await expect.poll(delayedMessages).toBe(1);
    expect(await find("typed word4")).toEqual([]);
    test.clock.advance(1_500);
    await test.tick();
    expect(await find("typed word4")).toEqual(["Live"]);
    await type("later");
    await expect.poll(delayedMessages).toBe(1);
    test.clock.advance(1_500);
    await test.tick();
    expect(await find("later")).toEqual(["Live"]);
  });

  it("finds live edits of a content that is compacted, saved and replaced in between", async () => {
    const id = await make("Live");
    await test.tick();
    let type = await openEditor(id);
    const typeAndFind = async (word: string, ...others: readonly string[]): Promise<void> => {
      await type(` ${word} `);
      await expect.poll(delayedMessages).toBe(1);
      test.clock.advance(1_500);
      await test.tick();
      expect(await find([word, ...others].join(" "))).toEqual(["Live"]);
    };
    await typeAndFind("one");
    await typeAndFind("two", "one");
    await compactLog(test.deps, id);
    await typeAndFind("three", "one", "two");
    await typeAndFind("four", "one", "two", "three");
    await save(id, [["paragraph", "b", "saved"]]);
    // Its blocks replace those of before.
    type = await openEditor(id);
    await typeAndFind("five", "saved");
    await typeAndFind("six", "five", "saved");
    test.clock.advance(120_000);
    await typeAndFind("seven", "six", "saved");
    expect(await find("four")).toEqual([]);
  });

  it("indexes a repeated message once, and an older state never replaces a newer one", async () => {
    const id = await make("Repeated", [["paragraph", "b", "delta"]]);
    await test.drain();
    const [before] = await test.deps.fullText.get([id]);
    const body = JSON.stringify({ document_id: id });
    await test.deps.queues.send(INDEX_DOCUMENTS_QUEUE, [{ body }, { body }]);
    await test.drain();
    expect((await test.deps.fullText.get([id]))[0]?.version).toBe(before?.version);
    expect(await find("delta")).toEqual(["Repeated"]);
  });

  it("passes no syntax of a query on, and names the field of an error", async () => {
    await make("Syntax", [["paragraph", "b", "plain text about or and near"]]);
    await test.drain();
    for (const q of [
      '"',
      '""',
      '"" OR ""',
      "text*",
      "title:text",
      "text NEAR/2 plain",
      "NOT plain",
      "(((",
      "{words} : text",
      "^plain",
      "a\0b",
      "'; DROP TABLE full_text; --",
      "🎉🎉",
      "\u202e\u200b",
      "\ud800",
      "-",
      "%",
    ])
      expect([q, (await ask({ q })).status]).toEqual([q, 200]);
    expect(await find("plain OR text")).toEqual(["Syntax"]);
    expect(await find("plain OR missing")).toEqual([]);
    expect(await ask({ q: "x".repeat(256) })).toMatchObject({
      status: 400,
      body: { q: [expect.any(String)] },
    });
    const many = Array.from({ length: 33 }, (_, at) => `w${at}`).join(" ");
    expect(await ask({ q: many })).toEqual({
      status: 400,
      body: { q: ["Ensure this value has no more than 32 words."] },
    });
  });

  it("indexes the beginning of a very large document", async () => {
    const id = await make("Large");
    const text = `firstword\n${"line of text\n".repeat(800_000)}lastword`;
    const { status } = await call(test.deps, patchContent, {
      params: { id },
      body: { content: Buffer.from(text).toString("base64"), websocket: true },
      ...as(TEST_TOKEN),
    });
    expect(status).toBe(204);
    await test.drain();
    expect(await find("firstword")).toEqual(["Large"]);
    expect(await find("lastword")).toEqual([]);
  });

  it("indexes documents of an earlier version once", async () => {
    const root = await make("Old root", [["paragraph", "b", "epsilon"]]);
    await make("Old child", [["paragraph", "b", "epsilon"]], root);
    // Earlier versions sent no messages.
    const messages = await test.deps.queues.receive(INDEX_DOCUMENTS_QUEUE, {
      max: 10,
      visibilitySeconds: 30,
      waitSeconds: 0,
    });
    await test.deps.queues.delete(
      INDEX_DOCUMENTS_QUEUE,
      messages.map(({ receipt }) => receipt),
    );
    // The first search requests it.
    expect(await find("epsilon")).toEqual([]);
    await test.drain();
    expect(await find("epsilon")).toEqual(["Old child", "Old root"]);
    await find("epsilon");
    expect(await test.deps.queues.depth(INDEX_DOCUMENTS_QUEUE)).toMatchObject({ visible: 0, inFlight: 0 });
  });
});
