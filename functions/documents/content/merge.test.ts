import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import * as Y from "yjs";
import { documentCallHandler } from "#lib/app/compose.ts";
import { relationKey, relationsTable } from "#lib/documents/tables/accesses.ts";
import { documentKey, documentsTable } from "#lib/documents/tables/documents.ts";
import { updatesPartition, updatesTable } from "#lib/documents/tables/updates.ts";
import { compactLog } from "#lib/documents/updates/compact.ts";
import { type DocumentLog, UpdateLogs } from "#lib/documents/updates/update-log.ts";
import { createToken } from "#lib/documents/users/tokens.ts";
import { type ConverterProcess, converterProcess } from "#lib/platform/embedded/converter/client.ts";
import type { Log } from "#lib/platform/log.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call as callHandler } from "#lib/testing/test-handler-call.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { route as create } from "../documents/create.ts";
import { route as list } from "../versions/list.ts";
import { route as restore } from "../versions/restore.ts";
import { route as formatted } from "./formatted.ts";
import { handler as get } from "./get.ts";
import { handler as patch } from "./patch.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };
const FRAGMENT = "document-store";

let converter: ConverterProcess;
let test: TestDeps;
let id: string;
beforeAll(() => {
  converter = converterProcess({ log: silent });
});
afterAll(() => converter.close());
beforeEach(async () => {
  test = await testDeps({ converter });
  id = (await call(test.deps, create, { body: {} })).body.id;
});
afterEach(() => test.close());

/** A copy of a document in which somebody edits its paragraphs. */
class Editor {
  readonly doc = new Y.Doc();
  readonly #unsent: Uint8Array[] = [];

  constructor(state?: Uint8Array) {
    if (state !== undefined) Y.applyUpdate(this.doc, state);
    this.doc.on("update", (update: Uint8Array, origin: unknown) => {
      if (origin !== "remote") this.#unsent.push(update);
    });
  }

  get state(): Uint8Array {
    return Y.encodeStateAsUpdate(this.doc);
  }

  get #group(): Y.XmlElement {
    return this.doc.getXmlFragment(FRAGMENT).get(0) as Y.XmlElement;
  }

  get lines(): string[] {
    return linesOf(this.state);
  }

  /** Creates the document's blocks, as an editor does for content of another program. */
  write(...lines: string[]): this {
    this.doc.transact(() => {
      const group = new Y.XmlElement("blockGroup");
      this.doc.getXmlFragment(FRAGMENT).insert(0, [group]);
      for (const [at, line] of lines.entries()) {
        const [container, paragraph] = [new Y.XmlElement("blockContainer"), new Y.XmlElement("paragraph")];
        container.setAttribute("id", `block-${at}`);
        paragraph.insert(0, [new Y.XmlText(line)]);
        container.insert(0, [paragraph]);
        group.push([container]);
      }
    });
    return this;
  }

  #text(line: number): Y.XmlText {
    const paragraph = (this.#group.get(line) as Y.XmlElement).get(0) as Y.XmlElement;
    if (paragraph.length === 0) paragraph.insert(0, [new Y.XmlText()]);
    return paragraph.get(0) as Y.XmlText;
  }

  type(line: number, words: string): this {
    const text = this.#text(line);
    text.insert(text.length, words);
    return this;
  }

  erase(line: number, length: number): this {
    const text = this.#text(line);
    text.delete(text.length - Math.min(length, text.length), Math.min(length, text.length));
    return this;
  }

  receive(update: Uint8Array): void {
    Y.applyUpdate(this.doc, update, "remote");
  }

  async send(log: DocumentLog): Promise<void> {
    for (const update of this.#unsent.splice(0)) await log.append(update, { author: null, origin: this });
  }
}

function linesOf(state: Uint8Array): string[] {
  const doc = new Y.Doc();
  Y.applyUpdate(doc, state);
  const group = doc.getXmlFragment(FRAGMENT).get(0) as Y.XmlElement | undefined;
  const contents = (group?.toArray() ?? []).map((container) => (container as Y.XmlElement).get(0));
  return contents.map((content) => (content as Y.XmlElement).toArray().map(String).join(""));
}

const save = (state: Uint8Array, headers: Record<string, string> = {}, more: object = {}) =>
  callHandler(test.deps, patch, {
    params: { id },
    body: { content: Buffer.from(state).toString("base64"), ...more },
    headers,
    token: TEST_TOKEN,
  });
const read = () => callHandler(test.deps, get, { params: { id }, token: TEST_TOKEN });
const stateNow = async (): Promise<Uint8Array> => Buffer.from((await read()).text, "base64");
const linesNow = async (): Promise<string[]> => linesOf(await stateNow());
const etagNow = async (): Promise<string> => (await read()).headers["etag"] ?? "";
const generation = async (): Promise<number> =>
  (await test.deps.tables.get(documentsTable, documentKey(id)))?.generation ?? 0;
const versions = async (): Promise<string[]> =>
  (await call(test.deps, list, { params: { id }, token: TEST_TOKEN })).body.versions.map(
    ({ version_id }: { version_id: string }) => version_id,
  );
const putBack = (
  versionId: string,
  headers: Record<string, string> = {},
  token: string | null = TEST_TOKEN,
) => call(test.deps, restore, { params: { id, versionId }, headers, token });

/** Somebody who has the document open, over a log of this process or another. */
async function open(logs = test.deps.updateLogs) {
  const log = await logs.open(id);
  const editor = new Editor((await log.read()).state);
  let hasEnded = false;
  const stop = log.subscribe({
    onEntry: ({ updates }, origins) => {
      for (const [at, update] of updates.entries()) if (origins[at] !== editor) editor.receive(update);
    },
    onEnd: () => {
      hasEnded = true;
    },
  });
  const close = (): void => {
    stop();
    log.close();
  };
  return { log, editor, close, hasEnded: () => hasEnded };
}

describe("a saved state", () => {
  it("that continues the current one is stored as it is, and reaches connected editors", async () => {
    const writer = new Editor().write("one", "two");
    expect((await save(writer.state)).status).toBe(204);
    const before = await generation();
    const here = await open();
    const there = await open(new UpdateLogs(test.deps));
    writer.type(0, " more");
    here.editor.type(1, " unsent");
    expect((await save(writer.state)).status).toBe(204);
    expect(here.editor.lines).toEqual(["one more", "two unsent"]);
    await here.editor.send(here.log);
    expect(await linesNow()).toEqual(["one more", "two unsent"]);
    expect(await generation()).toBe(before);
    here.close();
    there.close();
    await compactLog(test.deps, id);

    writer.type(0, ".");
    writer.receive(await stateNow());
    expect((await save(writer.state)).status).toBe(204);
    expect(await stateNow()).toEqual(Buffer.from(writer.state));
    expect(await generation()).toBe(before);
  });

  it("that has diverged is merged, with and without connected editors", async () => {
    const first = new Editor().write("one", "two", "three");
    await save(first.state);
    const [ana, ben, eve] = [first, new Editor(first.state), new Editor(first.state)];
    ana.type(0, " by Ana");
    ben.type(1, " by Ben");
    eve.type(2, " by Eve");
    await save(ana.state);
    expect((await save(ben.state)).status).toBe(204);
    expect(await linesNow()).toEqual(["one by Ana", "two by Ben", "three"]);
    const before = await generation();
    const { editor, log, close } = await open();
    editor.type(0, ", online");
    await editor.send(log);
    expect((await save(eve.state)).status).toBe(204);
    expect(editor.lines).toEqual(["one by Ana, online", "two by Ben", "three by Eve"]);
    expect(await linesNow()).toEqual(editor.lines);
    expect(await generation()).toBe(before);
    close();
  });

  it("that adds nothing sets the content back, unless its sender is connected", async () => {
    const writer = new Editor().write("one", "two");
    const older = writer.state;
    await save(older);
    await save(writer.type(0, " more").type(1, " words").state);
    expect((await save(older, {}, { websocket: true })).status).toBe(204);
    expect(await linesNow()).toEqual(["one more", "two words"]);
    expect((await save(older)).status).toBe(204);
    expect(await linesNow()).toEqual(["one", "two"]);
    // An edit: what the writer types at the same time is kept.
    writer.type(1, "!");
    await save(writer.state);
    expect(await linesNow()).toEqual(["one", "two!"]);
    expect(await versions()).toHaveLength(3);
  });

  it("that was merged or saved a moment ago and is sent again changes nothing, if others have edited since", async () => {
    const first = new Editor().write("one", "two");
    await save(first.state);
    const [ana, ben] = [new Editor(first.state).type(0, " Ana"), new Editor(first.state).type(1, " Ben")];
    const both = ["one Ana", "two Ben"];
    for (const state of [ana.state, ben.state, ben.state, ana.state]) await save(state);
    expect(await linesNow()).toEqual(both);
    const { editor, log, close } = await open();
    await editor.type(0, ", live").send(log);
    for (const state of [ben.state, ana.state]) expect((await save(state)).status).toBe(204);
    expect(await linesNow()).toEqual(["one Ana, live", "two Ben"]);
    const eve = new Editor(first.state).type(0, " Eve");
    for (const _ of [1, 2]) expect((await save(eve.state)).status).toBe(204);
    expect(editor.lines.join()).toMatch(/Eve/);
    expect(editor.lines.join()).toMatch(/Ana, live/);
    close();
    // Later, it is an older version.
    test.clock.advance(180_000);
    expect((await save(ana.state)).status).toBe(204);
    expect(await linesNow()).toEqual(["one Ana", "two"]);
  });

  it("of another document replaces the content, or becomes an edit while others are editing", async () => {
    await save(new Editor().write("one", "two").state);
    const other = new Editor().write("one", "two", "three").state;
    const first = await generation();
    const { editor, log, close, hasEnded } = await open();
    editor.type(0, " unsent");
    expect((await save(other)).status).toBe(204);
    expect(hasEnded()).toBe(false);
    await editor.send(log);
    expect(await linesNow()).toEqual(["one unsent", "two", "three"]);
    expect(editor.lines).toEqual(["one unsent", "two", "three"]);
    expect(await generation()).toBe(first);
    close();
    await compactLog(test.deps, id);
    const third = new Editor().write("other").state;
    expect((await save(third)).status).toBe(204);
    expect(await stateNow()).toEqual(Buffer.from(third));
    expect(await generation()).toBe(first + 1);
  });

  it("replaces the content where no converter is available or it refuses", async () => {
    for (const reason of ["refused", undefined] as const) {
      const own = await testDeps(
        reason === undefined ? {} : { converter: { convert: async () => ({ ok: false, reason }) } },
      );
      const doc = (await call(own.deps, create, { body: {} })).body.id;
      const put = (state: Uint8Array) =>
        callHandler(own.deps, patch, {
          params: { id: doc },
          body: { content: Buffer.from(state).toString("base64") },
        });
      const writer = new Editor().write("one");
      const older = writer.state;
      await put(older);
      await put(writer.type(0, " more").state);
      expect((await put(older)).status).toBe(204);
      const { text } = await callHandler(own.deps, get, { params: { id: doc } });
      expect(text).toBe(Buffer.from(older).toString("base64"));
      expect((await own.deps.tables.get(documentsTable, documentKey(doc)))?.generation).toBe(2);
      await own.close();
    }
  });

  it("as text replaces an editor's content and ends its log", async () => {
    await save(new Editor().write("one").state);
    const { editor, log, close, hasEnded } = await open();
    await editor.type(0, " more").send(log);
    const first = await generation();
    expect((await save(Buffer.from("text"))).status).toBe(204);
    expect((await read()).text).toBe("text");
    expect(await generation()).toBe(first + 1);
    expect(hasEnded()).toBe(true);
    close();
    expect((await versions()).length).toBe(2);
  });

  it("with If-Match is saved only over the content that was read, and only once", async () => {
    const first = new Editor().write("one", "two");
    await save(first.state);
    const etag = await etagNow();
    const [ana, ben] = [new Editor(first.state).type(0, " Ana"), new Editor(first.state).type(1, " Ben")];
    const statuses = await Promise.all(
      [ana, ben].map(async ({ state }) => (await save(state, { "if-match": etag })).status),
    );
    expect(statuses.toSorted()).toEqual([204, 412]);
    const { editor, log, close } = await open();
    const read = await etagNow();
    await editor.type(0, " live").send(log);
    expect((await save(ana.state, { "if-match": read })).status).toBe(412);
    const now = await etagNow();
    expect((await save(ben.state, { "if-match": now })).status).toBe(204);
    expect(await linesNow()).toEqual(editor.lines);
    close();
  });

  it("does not leave one entry of the log after another", async () => {
    const writer = new Editor().write("one");
    for (let at = 0; at < 5; at += 1) await save(writer.type(0, ` ${at}`).state);
    const pk = updatesPartition(id, await generation());
    expect((await test.deps.tables.query(updatesTable, { pk })).items.length).toBeLessThanOrEqual(1);
  });

  it("of any age, sent by anybody at any time, converges with live edits, and loses none of them", async () => {
    const action = fc.record({
      who: fc.nat(2),
      what: fc.constantFrom("live", "save", "append", "offline", "sync"),
      line: fc.nat(3),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 3, maxLength: 14 }), async (actions) => {
        id = (await call(test.deps, create, { body: {} })).body.id;
        const base = new Editor().write("a", "b", "c", "d");
        await save(base.state);
        const clients = [await open(), await open(), await open(new UpdateLogs({ ...test.deps }))];
        let count = 0;
        const typed: string[] = [];
        const run = async ({ who, what, line }: (typeof actions)[number]): Promise<void> => {
          const { editor, log } = clients[who] ?? (clients[0] as (typeof clients)[number]);
          count += 1;
          const mark = `<${count}>`;
          const added = `added ${count}`;
          if (what === "append") {
            const by = { call: crypto.randomUUID(), cause: { run_id: "run", workflow_name: "w", hop: 0 } };
            await documentCallHandler(test.deps)({ of: "more text", id, text: added }, by);
            typed.push(added);
            return;
          }
          if (what === "sync") return editor.send(log);
          editor.type(line, mark);
          typed.push(mark);
          if (what === "live") await editor.send(log);
          // A connected client may lag behind what it has sent itself.
          if (what === "save") expect((await save(editor.state, {}, { websocket: true })).status).toBe(204);
        };
        await Promise.all(actions.map(run));
        for (const { editor, log } of clients) await editor.send(log);
        const text = (await linesNow()).join("\n");
        for (const mark of typed) expect(text).toContain(mark);
        for (const { editor, close } of clients) {
          editor.receive(await stateNow());
          expect(editor.lines.join("\n")).toBe(text);
          close();
        }
      }),
      { numRuns: 25 },
    );
  }, 120_000);
});

describe("restoring a version", () => {
  const prepare = async () => {
    const writer = new Editor().write("one", "two");
    await save(writer.state);
    await save(writer.type(0, " more").state);
    return (await versions())[0] ?? "";
  };

  it("is an edit that others see, and keeps what they have not sent yet", async () => {
    const version = await prepare();
    const before = await generation();
    const { editor, log, close, hasEnded } = await open();
    editor.type(1, " unsent");
    expect((await putBack(version)).status).toBe(204);
    expect(editor.lines).toEqual(["one", "two unsent"]);
    await editor.send(log);
    expect(await linesNow()).toEqual(["one", "two unsent"]);
    expect(hasEnded()).toBe(false);
    expect(await generation()).toBe(before);
    close();
    // The content before can be restored in the same way.
    const undone = (await versions())[0] ?? "";
    expect((await putBack(undone)).status).toBe(204);
    expect((await linesNow())[0]).toBe("one more");
  });

  it("of another generation or kind works, too, and needs the current entity tag if one is sent", async () => {
    const version = await prepare();
    expect((await putBack(version, { "if-match": '"other"' })).status).toBe(412);
    await save(Buffer.from("text"));
    expect((await putBack(version, { "if-match": await etagNow() })).status).toBe(204);
    expect(await linesNow()).toEqual(["one", "two"]);
    const text = (await versions())[0] ?? "";
    expect((await putBack(text)).status).toBe(204);
    expect((await read()).text).toBe("text");
  });

  it("needs the right to edit and to see the version", async () => {
    const version = await prepare();
    const { token, record } = await createToken(test.deps, { email: "reader@example.com" });
    const grant = (role: string, since: number) =>
      test.deps.tables.update(relationsTable, relationKey(record.user, id), {
        set: { document: id, role, since: new Date(since).toISOString() },
      });
    expect((await putBack(version, {}, token)).status).toBe(403);
    expect([401, 403]).toContain((await putBack(version, {}, null)).status);
    await grant("reader", test.clock.now() - 60_000);
    expect((await putBack(version, {}, token)).status).toBe(403);
    await grant("editor", test.clock.now() + 60_000);
    expect((await putBack(version, {}, token)).status).toBe(404);
    await grant("editor", test.clock.now() - 60_000);
    expect((await putBack(version, {}, token)).status).toBe(204);
    expect((await putBack("unknown")).status).toBe(404);
  });
});

describe("text that a script appends", () => {
  const by = (n: number) => ({
    call: `11111111-1111-4111-8111-11111111111${n}`,
    cause: { run_id: "run", workflow_name: "w", hop: 0 },
  });
  const append = (text: string, n: number) =>
    documentCallHandler(test.deps)({ of: "more text", id, text }, by(n));

  it("appears in open editors, whose edits and comments stay", async () => {
    await save(new Editor().write("one", "two").state);
    const { editor, log, close } = await open();
    const text = ((editor.doc.getXmlFragment(FRAGMENT).get(0) as Y.XmlElement).get(0) as Y.XmlElement).get(
      0,
    ) as Y.XmlElement;
    (text.get(0) as Y.XmlText).format(0, 3, { comment: { threadId: "t" } });
    editor.type(1, " unsent");
    await append("added", 1);
    expect(editor.lines.slice(1)).toEqual(["two unsent", "added"]);
    await editor.send(log);
    expect((await linesNow())[0]).toContain("<comment");
    const { body } = await call(test.deps, formatted, {
      params: { id },
      query: { content_format: "markdown" },
      token: TEST_TOKEN,
    });
    expect(body.content).toBe("one\n\ntwo unsent\n\nadded\n");
    close();
  });

  it("is the first block of an empty document that is open", async () => {
    const { editor, log, close } = await open();
    await append("first", 1);
    expect(editor.lines).toEqual(["first"]);
    await editor.type(0, " words").send(log);
    await append("second", 2);
    expect(await linesNow()).toEqual(["first words", "second"]);
    close();
  });
});
