import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as Y from "yjs";
import { convert } from "../../conversion/convert.ts";
import type { Converter } from "../../platform/converter.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { findDocument } from "../authorization/document-access.ts";
import { saveContent } from "../content/save.ts";
import { createDocument } from "../records/create.ts";
import { documentKey, documentsTable, type StoredDocument } from "../tables/documents.ts";
import { updateBlob, updatesPartition, updatesTable } from "../tables/updates.ts";
import { versionsTable } from "../tables/versions.ts";
import { getOrCreateOwner } from "../users/users.ts";
import { compactLog } from "./compact.ts";
import type { LogEntry } from "./read-log.ts";
import { UpdateLogs } from "./update-log.ts";

const FRAGMENT = "document-store";
const ANA = "00000000-0000-4000-8000-00000000000a";
const BEN = "00000000-0000-4000-8000-00000000000b";

const converter: Converter = {
  convert: async (conversion) => ({ ok: true, value: await convert(conversion) }),
};

let test: TestDeps;
let id: string;
beforeEach(async () => {
  test = await testDeps();
  id = await newDocument();
});
afterEach(() => test.close());

const newDocument = async (): Promise<string> => {
  const owner = await getOrCreateOwner(test.deps, "owner@weft.local");
  return (await createDocument(test.deps, owner, { title: "Notes" })).document.id;
};
const row = async (): Promise<StoredDocument> => {
  const found = await test.deps.tables.get(documentsTable, documentKey(id));
  if (found === undefined) throw new Error("the document does not exist");
  return found;
};
/** A second process that has the same documents. */
const otherProcess = (): UpdateLogs => new UpdateLogs(test.deps);

/** An editor: a copy of the document that produces one update per edit. */
class Editor {
  readonly doc = new Y.Doc();
  readonly updates: Uint8Array[] = [];

  constructor(state?: Uint8Array) {
    if (state !== undefined) Y.applyUpdate(this.doc, state);
    this.doc.on("update", (update: Uint8Array, origin) => {
      if (origin !== "remote") this.updates.push(update);
    });
  }

  type(text: string): Uint8Array {
    this.doc.getText("t").insert(this.doc.getText("t").length, text);
    return this.updates.pop() ?? new Uint8Array();
  }
}

const textOf = (state: Uint8Array): string => {
  const doc = new Y.Doc();
  Y.applyUpdate(doc, state);
  return doc.getText("t").toString();
};
const stored = async (generation = 0): Promise<number> =>
  (await test.deps.tables.query(updatesTable, { pk: updatesPartition(id, generation) })).items.length;
const versions = async () => (await test.deps.tables.query(versionsTable, { pk: id })).items;

describe("the update log of a document", () => {
  it("begins with one empty paragraph, which is the same for every process", async () => {
    const [one, two] = await Promise.all(
      [test.deps.updateLogs, otherProcess()].map((logs) => logs.use(id, (log) => log.read())),
    );
    expect(one).toEqual(two);
    const doc = new Y.Doc();
    Y.applyUpdate(doc, one?.state ?? new Uint8Array());
    Y.applyUpdate(doc, two?.state ?? new Uint8Array());
    expect(doc.getXmlFragment(FRAGMENT).toString()).toBe(
      '<blockgroup><blockcontainer id="initialBlockId"><paragraph></paragraph></blockcontainer></blockgroup>',
    );
  });

  it("contains each appended update, in every process and after compaction", async () => {
    const log = await test.deps.updateLogs.open(id);
    const editor = new Editor((await log.read()).state);
    for (const letter of "abc") await log.append(editor.type(letter), { author: ANA });
    expect(textOf((await log.read()).state)).toBe("abc");
    expect(textOf((await otherProcess().use(id, (other) => other.read())).state)).toBe("abc");
    await compactLog(test.deps, id);
    expect(await stored()).toBe(0);
    await log.append(editor.type("d"), { author: ANA });
    const { state, position } = await otherProcess().use(id, (other) => other.read());
    expect([textOf(state), position]).toEqual(["abcd", 4]);
    log.close();
  });

  it("writes updates that arrive together as one item", async () => {
    const log = await test.deps.updateLogs.open(id);
    const editor = new Editor((await log.read()).state);
    await log.append(editor.type("first"), { author: ANA });
    const positions = await Promise.all(
      Array.from({ length: 50 }, (_, n) => log.append(editor.type(`${n},`), { author: n % 2 ? ANA : null })),
    );
    expect(new Set(positions).size).toBeLessThan(4);
    expect(await stored()).toBeLessThan(5);
    log.close();
  });

  it("passes each entry to the listeners once and in order, whoever appended it", async () => {
    const here = await test.deps.updateLogs.open(id);
    const elsewhere = otherProcess();
    const there = await elsewhere.open(id);
    const editor = new Editor((await here.read()).state);
    const seen: { position: number; origins: readonly unknown[] }[] = [];
    const onEntry = ({ position }: LogEntry, origins: readonly unknown[]) => seen.push({ position, origins });
    here.subscribe({ onEntry, onEnd: () => {} });
    await there.append(editor.type("a"), { author: BEN });
    await here.append(editor.type("b"), { author: ANA, origin: "mine" });
    await there.append(editor.type("c"), { author: BEN });
    await test.deps.updateLogs.refresh();
    expect(seen).toEqual([
      { position: 1, origins: [] },
      { position: 2, origins: ["mine"] },
      { position: 3, origins: [] },
    ]);
    here.close();
    there.close();
  });

  it("passes on what others append while a write of its own is not on disk yet", async () => {
    const { promise: disk, resolve: sync } = Promise.withResolvers<void>();
    let isWaiting = false;
    const durable = async (): Promise<void> => {
      if (isWaiting) await disk;
    };
    const logs = new UpdateLogs({ ...test.deps, durable });
    const log = await logs.open(id);
    const { state } = await log.read();
    const seen: number[] = [];
    log.subscribe({ onEntry: ({ position }) => seen.push(position), onEnd: () => {} });
    isWaiting = true;
    const appended = log.append(new Editor(state).type("a"), { author: ANA });
    await expect.poll(() => stored()).toBe(1);
    await otherProcess().use(id, (there) => there.append(new Editor(state).type("b"), { author: BEN }));
    await logs.refresh();
    expect(seen).toEqual([]);
    sync();
    await appended;
    await expect.poll(() => seen).toEqual([1, 2]);
    log.close();
  });

  it("keeps every update that concurrent processes append", async () => {
    const processes = [test.deps.updateLogs, otherProcess(), otherProcess()];
    const { state } = await test.deps.updateLogs.use(id, (log) => log.read());
    await Promise.all(
      processes.map(async (logs, n) => {
        const log = await logs.open(id);
        const editor = new Editor(state);
        for (let edit = 0; edit < 10; edit += 1) await log.append(editor.type(`${n}`), { author: ANA });
        log.close();
      }),
    );
    const text = textOf((await otherProcess().use(id, (log) => log.read())).state);
    expect([...text].toSorted().join("")).toBe("0".repeat(10) + "1".repeat(10) + "2".repeat(10));
  });

  it("stores an update that is larger than an item, and refuses one of more than 8 MiB", async () => {
    const log = await test.deps.updateLogs.open(id);
    const editor = new Editor((await log.read()).state);
    await log.append(editor.type("x".repeat(1_000_000)), { author: ANA });
    expect(textOf((await otherProcess().use(id, (other) => other.read())).state)).toHaveLength(1_000_000);
    await compactLog(test.deps, id);
    expect(await test.deps.blobs.list(updateBlob(id, ""), { limit: 10 })).toEqual([]);
    const large = editor.type("y".repeat(8 * 1024 * 1024));
    await expect(log.append(large, { author: ANA })).rejects.toMatchObject({ code: "payload_too_large" });
    log.close();
  });

  it("refuses an update that would make the document larger than 20 MiB", async () => {
    const log = await test.deps.updateLogs.open(id);
    const editor = new Editor((await log.read()).state);
    for (const letter of "abc") await log.append(editor.type(letter.repeat(6_500_000)), { author: ANA });
    await expect(log.append(editor.type("d".repeat(2_000_000)), { author: ANA })).rejects.toMatchObject({
      code: "payload_too_large",
      message: "The document is larger than 20 MiB.",
    });
    expect(textOf((await log.read()).state)).toHaveLength(19_500_000);
    log.close();
  });

  it("refuses it also while the log is compacted", async () => {
    const append = (update: Uint8Array) =>
      test.deps.updateLogs.use(id, (log) => log.append(update, { author: ANA }));
    const editor = new Editor((await test.deps.updateLogs.use(id, (log) => log.read())).state);
    for (const letter of "ab") await append(editor.type(letter.repeat(7_000_000)));
    const large = editor.type("c".repeat(7_000_000));
    for (let times = 0; times < 3; times += 1)
      await expect(append(large)).rejects.toMatchObject({ code: "payload_too_large" });
  });

  it("refuses bytes that are not an update, and appends nothing for an empty update", async () => {
    const log = await test.deps.updateLogs.open(id);
    for (const bytes of [new Uint8Array(), new Uint8Array([9, 9, 9]), Buffer.from("text")])
      await expect(log.append(bytes, { author: ANA })).rejects.toMatchObject({ code: "bad_request" });
    expect(await log.append(new Uint8Array([0, 0]), { author: ANA })).toBe(0);
    expect(await stored()).toBe(0);
    log.close();
  });

  it("is not appended to after the document was deleted", async () => {
    const log = await test.deps.updateLogs.open(id);
    const editor = new Editor((await log.read()).state);
    await log.append(editor.type("a"), { author: ANA });
    const deleted_at = new Date(test.clock.now()).toISOString();
    await test.deps.tables.update(documentsTable, documentKey(id), { set: { deleted_at } });
    await expect(log.append(editor.type("b"), { author: ANA })).rejects.toMatchObject({ code: "not_found" });
    await expect(test.deps.updateLogs.open("nowhere")).rejects.toMatchObject({ code: "not_found" });
    log.close();
  });
});

describe("plain text", () => {
  const save = async (text: string): Promise<void> => {
    const owner = await getOrCreateOwner(test.deps, "owner@weft.local");
    const access = await findDocument(test.deps, owner, id);
    await saveContent(test.deps, access, { bytes: Buffer.from(text), kind: "plain" });
  };

  it("becomes editor content when it is opened, and stays available as a version", async () => {
    await save("# Report\n\nfine");
    const deps = { ...test.deps, converter };
    const [one, two] = await Promise.all(
      [new UpdateLogs(deps), new UpdateLogs(deps)].map((logs) => logs.use(id, (log) => log.read())),
    );
    expect(one).toEqual(two);
    const doc = new Y.Doc();
    Y.applyUpdate(doc, one?.state ?? new Uint8Array());
    expect(doc.getXmlFragment(FRAGMENT).toString()).toMatch(/<heading[^>]*>Report<.*fine/s);
    expect((await versions()).map(({ kind }) => kind)).toEqual(["plain", "yjs"]);
    expect((await row()).content?.kind).toBe("yjs");
  });

  it("is refused without a converter", async () => {
    await save("text");
    await expect(test.deps.updateLogs.open(id)).rejects.toMatchObject({ code: "unavailable" });
    expect((await row()).content?.kind).toBe("plain");
  });
});

describe("compaction", () => {
  const edit = async (letters: string, author: string | null = ANA): Promise<void> =>
    test.deps.updateLogs.use(id, async (log) => {
      const editor = new Editor((await log.read()).state);
      for (const letter of letters) await log.append(editor.type(letter), { author });
    });

  it("happens with the event, which lists everyone who edited", async () => {
    await edit("a", ANA);
    await edit("b", BEN);
    await edit("c", null);
    test.clock.advance(31_000);
    await test.tick();
    expect(await stored()).toBe(0);
    expect(await versions()).toMatchObject([{ kind: "yjs", authors: [ANA, BEN] }]);
    const events = await test.deps.tables.scan({ name: "event-log", indexes: {} }, { limit: 100 });
    const updated = events.items
      .map((item) => item as unknown as { topic: string; data: string })
      .filter(({ topic }) => topic === "documents.updated");
    expect(updated.map(({ data }) => JSON.parse(data).user_ids.toSorted())).toEqual([[ANA, BEN]]);
    expect((await row()).pending_update_authors).toBeUndefined();
  });

  it("replaces the previous version of the same five minutes, and keeps that of another period", async () => {
    for (const minutes of [1, 1, 1, 6]) {
      await edit("a");
      await compactLog(test.deps, id);
      test.clock.advance(minutes * 60_000);
    }
    await edit("b", BEN);
    await compactLog(test.deps, id);
    expect((await versions()).map(({ authors }) => authors)).toEqual([[ANA], [BEN]]);
  });

  it("by another process loses nothing: neither what was not read yet, nor what is appended next", async () => {
    const [near, far] = [await test.deps.updateLogs.open(id), await otherProcess().open(id)];
    const [here, there] = [new Editor((await near.read()).state), new Editor((await far.read()).state)];
    const seen: number[] = [];
    far.subscribe({
      onEntry: ({ position, updates }) => {
        seen.push(position);
        for (const update of updates) Y.applyUpdate(there.doc, update, "remote");
      },
      onEnd: () => undefined,
    });
    for (const letter of "abc") await near.append(here.type(letter), { author: ANA });
    await compactLog(test.deps, id);
    expect(await far.append(there.type("far"), { author: BEN })).toBe(4);
    expect(seen).toEqual([3, 4]);
    expect(textOf((await near.read()).state).replace("far", "")).toBe("abc");
    expect(textOf((await near.read()).state)).toBe(there.doc.getText("t").toString());
    for (const letter of "de") await near.append(here.type(letter), { author: ANA });
    await compactLog(test.deps, id);
    await near.append(here.type("f"), { author: ANA });
    expect(await far.append(there.type("!"), { author: BEN })).toBe(8);
    expect(textOf((await near.read()).state)).toBe(there.doc.getText("t").toString());
    near.close();
    far.close();
  });

  it("deletes what an interrupted one left", async () => {
    await edit("abc");
    const items = (await test.deps.tables.query(updatesTable, { pk: updatesPartition(id, 0) })).items;
    await compactLog(test.deps, id);
    await test.deps.tables.write([{ op: "put", table: updatesTable, item: items[0] ?? { pk: "", sk: "" } }]);
    expect(textOf((await test.deps.updateLogs.use(id, (log) => log.read())).state)).toBe("abc");
    await edit("d");
    await compactLog(test.deps, id);
    expect(await stored()).toBe(0);
    expect(textOf((await test.deps.updateLogs.use(id, (log) => log.read())).state)).toBe("abcd");
  });

  it("keeps every acknowledged update while processes crash, compact and read", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("append", "append", "append", "compact", "reopen"), { maxLength: 25 }),
        async (steps) => {
          id = await newDocument();
          const editor = new Editor((await test.deps.updateLogs.use(id, (log) => log.read())).state);
          let logs = test.deps.updateLogs;
          let [typed, n] = ["", 0];
          for (const step of steps) {
            n += 1;
            if (step === "append") {
              const letter = String.fromCharCode(97 + (n % 26));
              await logs.use(id, (log) => log.append(editor.type(letter), { author: ANA }));
              typed += letter;
            } else if (step === "compact") await compactLog(test.deps, id);
            else logs = otherProcess();
            expect(textOf((await logs.use(id, (log) => log.read())).state)).toBe(typed);
          }
        },
      ),
      { numRuns: 25 },
    );
  });
});
