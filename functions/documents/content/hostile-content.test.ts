import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Y from "yjs";
import { isYjsUpdate } from "#lib/documents/updates/yjs-update.ts";
import { type ConverterProcess, converterProcess } from "#lib/platform/embedded/converter/client.ts";
import type { Log } from "#lib/platform/log.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call as callHandler } from "#lib/testing/test-handler-call.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { route as create } from "../documents/create.ts";
import { route as formatted } from "./formatted.ts";
import { handler as get } from "./get.ts";
import { handler as patch } from "./patch.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };
const SLOW_MS = 20_000;
const MB = 1024 * 1024;

let converter: ConverterProcess;
let test: TestDeps;
let id: string;
beforeAll(async () => {
  converter = converterProcess({ log: silent });
  test = await testDeps({ converter });
  id = (await call(test.deps, create, { body: {} })).body.id;
});
afterAll(async () => {
  await test.close();
  await converter.close();
});

const save = (bytes: Uint8Array) =>
  callHandler(test.deps, patch, {
    params: { id },
    body: { content: Buffer.from(bytes).toString("base64") },
    token: TEST_TOKEN,
  });
const show = (content_format: string) =>
  call(test.deps, formatted, { params: { id }, query: { content_format }, token: TEST_TOKEN });

/** Saves bytes in a new document and reads them in every format; returns the statuses of the save and the reads. */
async function through(bytes: Uint8Array, formats: readonly string[] = ["json"]): Promise<number[]> {
  id = (await call(test.deps, create, { body: {} })).body.id;
  const began = performance.now();
  const { status } = await save(bytes);
  expect([204, 400]).toContain(status);
  expect(performance.now() - began).toBeLessThan(SLOW_MS);
  if (status !== 204) return [status];
  const read = await callHandler(test.deps, get, { params: { id }, token: TEST_TOKEN });
  const text = Buffer.from(bytes).toString(read.headers["x-content-kind"] === "yjs" ? "base64" : "utf8");
  expect([read.status, read.text === text]).toEqual([200, true]);
  const shown: number[] = [];
  for (const format of formats) {
    const answer = await show(format);
    // Shown or rejected, but never a failure of the service.
    expect([200, 400]).toContain(answer.status);
    if (answer.status === 400) expect(answer.body.error).toMatch(/^The content (?:cannot|takes)/);
    shown.push(answer.status);
  }
  return [status, ...shown];
}

const rooted = (write: (doc: Y.Doc) => void): Uint8Array => {
  const doc = new Y.Doc();
  write(doc);
  return Y.encodeStateAsUpdate(doc);
};
const state = (write: (fragment: Y.XmlFragment) => void): Uint8Array =>
  rooted((doc) => write(doc.getXmlFragment("document-store")));
const paragraphs = (texts: readonly string[]): Uint8Array =>
  state((fragment) => {
    const group = new Y.XmlElement("blockGroup");
    fragment.insert(0, [group]);
    texts.forEach((text, at) => {
      const container = new Y.XmlElement("blockContainer");
      container.setAttribute("id", `b${at}`);
      const node = new Y.XmlElement("paragraph");
      group.insert(at, [container]);
      container.insert(0, [node]);
      node.insert(0, [new Y.XmlText(text)]);
    });
  });
const number = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...number(Math.floor(value / 128))];
const ITEM = 0x84;

/** May be accepted, because they have the form of a state, or rejected; either is correct if nothing breaks. */
const HOSTILE: readonly (readonly [string, () => Uint8Array])[] = [
  [
    "has a clock far ahead",
    () => new Uint8Array([1, 1, 7, ...number(2 ** 52), 1, 1, 1, 0x61, 4, 1, 0x62, 0]),
  ],
  ["has a client of the largest number", () => new Uint8Array([1, 1, ...number(2 ** 53 - 1), 0, 0, 1, 0])],
  [
    "leans on what is not there",
    () => new Uint8Array([1, 1, 7, 0, ITEM, 99, ...number(2 ** 40), 1, 0x61, 0]),
  ],
  ["skips more than there can be", () => new Uint8Array([1, 1, 7, 0, 10, ...number(2 ** 50), 0])],
  ["deletes more than there can be", () => new Uint8Array([0, 1, 7, 1, 0, ...number(2 ** 50)])],
  ["deletes of somebody who has written nothing", () => new Uint8Array([0, 1, 99, 1, 5, 5])],
  [
    "says that it has 100 MB of bytes",
    () => new Uint8Array([1, 1, 7, 0, 3, 1, 1, 0x61, ...number(100 * MB), 1]),
  ],
  ["says that it has 100 MB of structs", () => new Uint8Array([1, ...number(100 * MB), 7, 0, 0, 0])],
  ["has a number that does not end", () => new Uint8Array([1, 1, ...Array<number>(20).fill(0xff), 0])],
  ["has its root as a map", () => rooted((doc) => doc.getMap("document-store").set("a", 1))],
  ["has its root as a list", () => rooted((doc) => doc.getArray("document-store").insert(0, ["a", 1, {}]))],
  ["has its root as text", () => rooted((doc) => doc.getText("document-store").insert(0, "plain"))],
  ["has no root", () => rooted((doc) => doc.getMap("other").set("a", "b"))],
  ["has nothing", () => state(() => undefined)],
  ["is the empty update", () => new Uint8Array([0, 0])],
  [
    "has elements of names that are none",
    () =>
      state((fragment) => fragment.insert(0, [new Y.XmlElement("<script>"), new Y.XmlElement("__proto__")])),
  ],
  [
    "has text where blocks should be, and blocks where text should be",
    () =>
      state((fragment) => {
        const group = new Y.XmlElement("blockGroup");
        fragment.insert(0, [new Y.XmlText("loose"), group, new Y.XmlElement("paragraph")]);
        group.insert(0, [new Y.XmlText("loose"), new Y.XmlElement("blockGroup"), new Y.XmlElement("image")]);
      }),
  ],
  [
    "has attributes that are no text",
    () =>
      state((fragment) => {
        const node = new Y.XmlElement("heading");
        fragment.insert(0, [node]);
        node.setAttribute("level", { toString: 1 } as unknown as string);
        node.setAttribute("__proto__", { polluted: true } as unknown as string);
      }),
  ],
  [
    "nests elements by the thousand",
    () =>
      state((fragment) => {
        let parent: Y.XmlFragment = fragment;
        for (let depth = 0; depth < 3_000; depth += 1) {
          const inner = new Y.XmlElement(depth % 2 === 0 ? "blockGroup" : "blockContainer");
          parent.insert(0, [inner]);
          parent = inner;
        }
      }),
  ],
  [
    "is all tombstones",
    () =>
      state((fragment) => {
        const text = new Y.XmlText();
        fragment.insert(0, [text]);
        text.insert(0, "x".repeat(4_000));
        for (let at = 0; at < 4_000; at += 2) text.delete(at / 2, 1);
      }),
  ],
  [
    "has tombstones by the million",
    () => {
      const count = 1_000_000;
      const structs = Buffer.alloc(count * 2, Buffer.from([0, 1]));
      return Buffer.concat([Buffer.from([1, ...number(count), 7, 0]), structs, Buffer.from([0])]);
    },
  ],
  [
    "is written by a hundred thousand clients, less one",
    () => {
      const clients = Array.from({ length: 99_999 }, (_, client) => [1, ...number(client + 1), 0, 0, 1]);
      return new Uint8Array([...number(99_999), ...clients.flat(), 0]);
    },
  ],
];

describe("a malicious Yjs state", () => {
  it.each(HOSTILE)(
    "is refused or kept whole, and is shown or refused in words, where it %s",
    async (_, make) => {
      await through(make(), ["json", "markdown", "html"]);
      // The next request succeeds in any case.
      await save(paragraphs(["still there"]));
      expect((await show("markdown")).body.content).toBe("still there\n");
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    },
    60_000,
  );

  it.each(HOSTILE)(
    "does no harm to a document that others are editing, where it %s",
    async (_, make) => {
      id = (await call(test.deps, create, { body: {} })).body.id;
      await save(paragraphs(["still there"]));
      const log = await test.deps.updateLogs.open(id);
      const stop = log.subscribe({ onEntry: () => undefined, onEnd: () => undefined });
      const { state } = await log.read();
      expect([204, 400]).toContain((await save(make())).status);
      stop();
      log.close();
      expect((await save(paragraphs(["and again"]))).status).toBe(204);
      expect([200, 400]).toContain((await show("markdown")).status);
      expect((await save(state)).status).toBe(204);
    },
    60_000,
  );

  it("that is a small change of a valid one does no harm", async () => {
    const real = paragraphs(["Grüße 🙂", "second", "x".repeat(300)]);
    let shown = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(real.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        fc.option(fc.nat(real.length), { nil: undefined, freq: 1 }),
        async (changes, end) => {
          const bytes = Uint8Array.from(real);
          for (const [at, to] of changes) bytes[at] = to;
          const [, status] = await through(bytes.subarray(0, end ?? bytes.length));
          if (status === 200) shown += 1;
        },
      ),
      { numRuns: 400, endOnFailure: true },
    );
    expect(shown).toBeGreaterThan(5);
  }, 120_000);

  it("of random bytes does no harm", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), async (bytes) => {
        await through(bytes);
      }),
      { numRuns: 150, endOnFailure: true },
    );
    // Also with the start of a valid state before them.
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 60 }), async (bytes) => {
        await through(new Uint8Array([1, 1, 7, 0, ...bytes, 0]));
      }),
      { numRuns: 150, endOnFailure: true },
    );
  }, 120_000);

  it("does not affect the conversion of valid documents", async () => {
    const text = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 40 })
      .filter((one) => one.trim() === one);
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 5 }), async (texts) => {
        expect(await through(paragraphs(texts))).toEqual([204, 200]);
        const { body } = await show("json");
        const shown = body.content.map((block: { content: { text: string }[] }) => block.content[0]?.text);
        expect(shown).toEqual(texts);
      }),
      { numRuns: 60, endOnFailure: true },
    );
  }, 60_000);

  it("that is accepted can be applied by Yjs", () => {
    const real = paragraphs(["first", "second"]);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(real.length - 1), fc.nat(255)), { minLength: 1, maxLength: 3 }),
        (changes) => {
          const bytes = Uint8Array.from(real);
          for (const [at, to] of changes) bytes[at] = to;
          if (isYjsUpdate(bytes)) expect(() => Y.decodeUpdate(bytes)).not.toThrow();
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it("empties a document without deleting its versions", async () => {
    await save(paragraphs(["kept"]));
    const { headers } = await callHandler(test.deps, get, { params: { id }, token: TEST_TOKEN });
    expect((await save(new Uint8Array([0, 0]))).status).toBe(204);
    const { route: list } = await import("../versions/list.ts");
    const { body } = await call(test.deps, list, { params: { id }, token: TEST_TOKEN });
    expect(body.versions[0].etag).toBe(headers["etag"]);
  });

  it("of the maximum size needs memory of only a few times its size", async () => {
    const structs = 3_000_000;
    const bytes = Buffer.concat([
      Buffer.from([1, ...number(structs), 7, 0]),
      Buffer.alloc(structs * 5, Buffer.from([ITEM, 7, 0, 1, 0x61])),
      Buffer.from([0]),
    ]);
    globalThis.gc?.();
    const before = process.memoryUsage.rss();
    const body = { content: bytes.toString("base64") };
    const began = performance.now();
    const { status } = await callHandler(test.deps, patch, { params: { id }, body, token: TEST_TOKEN });
    expect(status).toBe(204);
    expect(performance.now() - began).toBeLessThan(2 * SLOW_MS);
    expect(process.memoryUsage.rss() - before).toBeLessThan(300 * MB);
    // An error if the conversion exceeds its time or memory limit.
    expect([200, 400]).toContain((await show("json")).status);
    await save(paragraphs(["after"]));
    expect((await show("markdown")).body.content).toBe("after\n");
  }, 90_000);
});
