import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import * as Y from "yjs";
import { isYjsUpdate } from "./yjs-update.ts";

const state = (write: (doc: Y.Doc) => void): Uint8Array => {
  const doc = new Y.Doc();
  write(doc);
  return Y.encodeStateAsUpdate(doc);
};

/** A document with every Yjs type, written by two clients. */
const rich = (): Uint8Array =>
  state((doc) => {
    const fragment = doc.getXmlFragment("document-store");
    const element = new Y.XmlElement("paragraph");
    element.setAttribute("level", "1");
    const text = new Y.XmlText();
    fragment.insert(0, [element]);
    element.insert(0, [text]);
    text.insert(0, "Grüße, 世界 🙂", { bold: true, link: { href: "https://e.example" } });
    text.insertEmbed(2, { image: "x" });
    text.delete(1, 3);
    const map = doc.getMap("map");
    const nested = { deep: [1, -2, 3.5, 1n, null, undefined, true, { bytes: new Uint8Array([1, 2]) }] };
    map.set("value", nested);
    map.set("bytes", new Uint8Array([0, 255]));
    map.set("doc", new Y.Doc({ guid: "inner" }));
    map.set("hook", new Y.XmlHook("hooked"));
    map.delete("bytes");
    doc.getArray("list").insert(0, [new Y.Array(), new Y.Map(), new Y.Text("t"), "s", 5e12, -5e12]);
    const other = new Y.Doc();
    Y.applyUpdate(other, Y.encodeStateAsUpdate(doc));
    other.getArray("list").delete(0, 2);
    other.getText("body").insert(0, "by another");
    Y.applyUpdate(doc, Y.encodeStateAsUpdate(other));
  });

const number = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...number(Math.floor(value / 128))];
/** An update of one client with one item; `content` follows the common start of items. */
const item = (kind: number, ...content: number[]): Uint8Array =>
  new Uint8Array([1, 1, 7, 0, kind, 1, 1, 0x61, ...content, 0]);

describe("a Yjs update", () => {
  it("is recognized with any content", () => {
    expect(isYjsUpdate(rich())).toBe(true);
    expect(isYjsUpdate(state(() => undefined))).toBe(true);
    expect(isYjsUpdate(Y.mergeUpdates([rich(), rich()]))).toBe(true);
  });

  it("is recognized for random edits", () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed % below;
    };
    for (let round = 0; round < 50; round += 1) {
      const docs = [new Y.Doc(), new Y.Doc()] as const;
      for (let step = 0; step < 40; step += 1) {
        const doc = docs[random(2)] ?? docs[0];
        const text = doc.getText("t");
        if (random(3) === 0 && text.length > 0) text.delete(random(text.length), 1);
        else
          text.insert(random(text.length + 1), "ä".repeat(random(200)), random(2) === 0 ? {} : { b: true });
        doc.getMap("m").set(String(random(5)), { at: random(1_000_000), list: [random(9), "x"] });
        if (random(5) === 0) Y.applyUpdate(docs[0], Y.encodeStateAsUpdate(docs[1]));
      }
      expect(isYjsUpdate(Y.encodeStateAsUpdate(docs[0]))).toBe(true);
    }
  });

  it("is invalid if it is truncated or followed by other bytes", () => {
    const whole = rich();
    for (let length = 0; length < whole.length; length += 1)
      expect(isYjsUpdate(whole.subarray(0, length)), `${length} of ${whole.length}`).toBe(false);
    expect(isYjsUpdate(new Uint8Array([...whole, 0]))).toBe(false);
  });

  it("that is accepted can be read by Yjs, with any bytes changed", () => {
    const whole = rich();
    for (let at = 0; at < whole.length; at += 1)
      for (const change of [1, 0x80, 0x7f]) {
        const bytes = Uint8Array.from(whole);
        bytes[at] = (bytes[at] ?? 0) ^ change;
        if (isYjsUpdate(bytes)) expect(() => Y.decodeUpdate(bytes)).not.toThrow();
      }
  });

  it.each([
    ["counts more than it may", new Uint8Array([...number(1_000_000), 1, 1, 0])],
    ["has a number without an end", new Uint8Array([255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1])],
    ["says that a text is long", item(4, ...number(100_000_000))],
    ["holds many structs that are not there", new Uint8Array([1, ...number(2 ** 40), 7, 0, 0, 0])],
    ["has the same client twice", new Uint8Array([2, 1, 7, 0, 0, 1, 1, 7, 0, 0, 1, 0])],
    ["has text that is not UTF-8", item(4, 1, 0xff)],
    ["is of an unknown type", item(7, 9)],
    ["nests values deep", item(8, 1, ...Array.from({ length: 500 }, () => [117, 1]).flat(), 126)],
    ["nests JSON deep", item(5, ...number(2_000), ...Buffer.from("[".repeat(1_000) + "]".repeat(1_000)))],
    ["has invalid JSON", item(5, 1, 0x7b)],
  ])("is refused where it %s", (_, bytes) => {
    expect(isYjsUpdate(bytes)).toBe(false);
  });

  it("of 20 MB of small parts is read within a heap of 16 MB", async () => {
    const structs = 4_000_000;
    const bytes = Buffer.concat([
      Buffer.from([1, ...number(structs), 7, 0]),
      Buffer.alloc(structs * 5, Buffer.from([0x84, 7, 0, 1, 0x61])),
      Buffer.from([0]),
    ]);
    // A worker whose heap exceeds its limit ends with an error, independent of when garbage is collected.
    const worker = new Worker(
      `import { parentPort, workerData } from "node:worker_threads";
       const { isYjsUpdate } = await import(workerData.module);
       parentPort.postMessage(isYjsUpdate(workerData.bytes));`,
      {
        eval: true,
        workerData: { module: new URL("./yjs-update.ts", import.meta.url).href, bytes },
        resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 },
      },
    );
    const [isUpdate] = await once(worker, "message");
    await worker.terminate();
    expect(isUpdate).toBe(true);
  });
});
