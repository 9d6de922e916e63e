import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as Y from "yjs";
import { summarizeUpdate } from "../updates/yjs-update.ts";
import { compareStates, type Lineage } from "./lineage.ts";

const stateOf = (doc: Y.Doc): Uint8Array => Y.encodeStateAsUpdate(doc);
function copyOf(doc: Y.Doc): Y.Doc {
  const copy = new Y.Doc();
  Y.applyUpdate(copy, stateOf(doc));
  return copy;
}
const textOf = (doc: Y.Doc): Y.Text => doc.getText("text");
function written(...texts: string[]): Y.Doc {
  const doc = new Y.Doc();
  for (const text of texts) textOf(doc).insert(0, text);
  return doc;
}

/** One random change of a document. */
type Change = (doc: Y.Doc) => void;
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(fc.nat(), fc.string({ unit: "grapheme", minLength: 1 })).map(([at, words]): Change => {
    return (doc) => textOf(doc).insert(at % (textOf(doc).length + 1), words);
  }),
  fc.tuple(fc.nat(), fc.nat(5)).map(([at, length]): Change => {
    return (doc) => {
      const text = textOf(doc);
      const start = at % (text.length + 1);
      text.delete(start, Math.min(length, text.length - start));
    };
  }),
  fc.tuple(fc.nat(), fc.boolean()).map(([at, bold]): Change => {
    return (doc) => textOf(doc).format(at % (textOf(doc).length + 1), 1, { bold });
  }),
  fc.anything({ withNullPrototype: false, maxDepth: 2 }).map((value): Change => {
    return (doc) => doc.getMap("map").set("key", JSON.parse(JSON.stringify(value) ?? "null"));
  }),
  fc.constant<Change>((doc) => doc.getArray("list").push([1, 2, new Y.Map()])),
  fc.constant<Change>((doc) => {
    const list = doc.getArray("list");
    if (list.length > 0) list.delete(0, 1);
  }),
);
const changes = fc.array(change, { maxLength: 8 });
const make = (doc: Y.Doc, list: readonly Change[]): Y.Doc => {
  for (const one of list) one(doc);
  return doc;
};

/** Whether merging the update changes nothing, as Yjs itself sees it. */
const adds = (state: Uint8Array, update: Uint8Array): boolean => {
  const before = new Y.Doc();
  Y.applyUpdate(before, state);
  return !Y.snapshotContainsUpdate(Y.snapshot(before), update);
};

/** Whether one of the ranges, pairs of a start and an end, contains another. */
const isIn = (ranges: readonly number[], start: number, end: number): boolean =>
  ranges.some((from, at) => at % 2 === 0 && from <= start && end <= (ranges[at + 1] ?? 0));

describe("comparing two states", () => {
  it("agrees with what Yjs merges, for any history", () => {
    fc.assert(
      fc.property(changes, changes, changes, (shared, mine, theirs) => {
        const base = make(new Y.Doc(), shared);
        const current = stateOf(make(copyOf(base), mine));
        const sent = stateOf(make(copyOf(base), theirs));
        const [lacks, brings] = [adds(sent, current), adds(current, sent)];
        const isShared = stateOf(base).length > 2;
        const wanted: Lineage[] = lacks
          ? [brings ? (isShared ? "diverged" : "unrelated") : "behind"]
          : [brings ? "ahead" : "same"];
        expect(wanted).toContain(compareStates(current, sent));
      }),
      { numRuns: 500 },
    );
  });

  it("reads the same clocks and deletions as Yjs, for any history", () => {
    fc.assert(
      fc.property(changes, changes, (first, second) => {
        const doc = make(new Y.Doc(), first);
        const state = Y.mergeUpdates([stateOf(doc), stateOf(make(copyOf(doc), second))]);
        const summary = summarizeUpdate(state);
        const { from, to } = Y.parseUpdateMeta(state);
        expect([...(summary?.structs ?? [])].sort()).toEqual(
          [...to].map(([client, end]) => [client, [from.get(client), end]]).sort(),
        );
        const whole = new Y.Doc();
        Y.applyUpdate(whole, state);
        for (const [client, deleted] of Y.snapshot(whole).ds.clients)
          for (const { clock, len } of deleted)
            expect(isIn(summary?.deletions.get(client) ?? [], clock, clock + len)).toBe(true);
      }),
    );
  });

  it("knows a state with only a deletion more", () => {
    const doc = written("some words");
    const before = stateOf(doc);
    textOf(doc).delete(2, 3);
    expect(compareStates(before, stateOf(doc))).toBe("ahead");
    expect(compareStates(stateOf(doc), before)).toBe("behind");
    const other = new Y.Doc();
    Y.applyUpdate(other, before);
    textOf(other).delete(6, 2);
    expect(compareStates(stateOf(doc), stateOf(other))).toBe("diverged");
  });

  it("takes an update without the structs that it continues, refers to or deletes as related", () => {
    const doc = written("one");
    const current = stateOf(doc);
    const vector = Y.encodeStateVector(doc);
    const updates: Uint8Array[] = [];
    for (const edit of [
      (to: Y.Doc) => textOf(to).insert(3, " more"),
      (to: Y.Doc) => textOf(to).delete(0, 1),
    ]) {
      const other = copyOf(doc);
      other.on("update", (update: Uint8Array) => updates.push(update));
      edit(other);
    }
    textOf(doc).insert(0, "zero ");
    updates.push(Y.encodeStateAsUpdate(doc, vector));
    expect(updates.map((update) => compareStates(current, update))).toEqual([
      "diverged",
      "diverged",
      "diverged",
    ]);
  });

  it("finds states of two documents unrelated, and an empty one contained in any", () => {
    const [one, other, empty] = [written("one"), written("one"), new Y.Doc()].map(stateOf) as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ];
    expect(compareStates(one, other)).toBe("unrelated");
    expect(compareStates(empty, one)).toBe("ahead");
    expect(compareStates(one, empty)).toBe("behind");
    expect(compareStates(empty, empty)).toBe("same");
    expect(compareStates(one, Buffer.from("text"))).toBe("unrelated");
  });

  it("of 1.7 MB each takes a fraction of what it takes to open them", () => {
    const doc = new Y.Doc();
    const fragment = doc.getXmlFragment("document-store");
    for (let at = 0; at < 5000; at += 1) {
      const paragraph = new Y.XmlElement("paragraph");
      for (const name of ["textColor", "backgroundColor", "textAlignment"])
        paragraph.setAttribute(name, "default");
      paragraph.insert(0, [new Y.XmlText("word ".repeat(36))]);
      fragment.push([paragraph]);
    }
    const other = copyOf(doc);
    const inner = (at: number): Y.XmlText =>
      (other.getXmlFragment("document-store").get(at) as Y.XmlElement).get(0) as Y.XmlText;
    for (let at = 0; at < 5000; at += 3) inner(at).delete(at % 100, 2);
    const [current, sent] = [stateOf(doc), stateOf(other)];
    expect(current.length).toBeGreaterThan(1_500_000);
    const elapsed = (work: () => unknown): number => {
      const start = performance.now();
      work();
      return performance.now() - start;
    };
    const times = [1, 2, 3].map(() => elapsed(() => expect(compareStates(current, sent)).toBe("ahead")));
    const opened = [1, 2, 3].map(() => elapsed(() => [copyOf(doc), copyOf(other)]));
    expect(Math.min(...times)).toBeLessThan(Math.min(...opened) / 2);
  });
});
