import { afterEach, beforeEach, expect, it } from "vitest";
import * as Y from "yjs";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { type DocumentAccess, findDocument } from "../authorization/document-access.ts";
import { createDocument } from "../records/create.ts";
import type { StoredUser } from "../tables/users.ts";
import { compactLog } from "../updates/compact.ts";
import { contentEtag, contentWithLog, readDocumentWithLog } from "../updates/read-log.ts";
import { getOrCreateOwner } from "../users/users.ts";
import { saveContent } from "./save.ts";

let test: TestDeps;
let owner: StoredUser;
let id: string;
let base: Uint8Array;
beforeEach(async () => {
  test = await testDeps();
  owner = await getOrCreateOwner(test.deps, "owner@weft.local");
  id = (await createDocument(test.deps, owner, { title: "Notes" })).document.id;
  base = (await test.deps.updateLogs.use(id, (log) => log.read())).state;
});
afterEach(() => test.close());

const access = (): Promise<DocumentAccess> => findDocument(test.deps, owner, id);
/** The state of somebody who has added a word to another state. */
function stateWith(word: string, before = base): Uint8Array {
  const doc = new Y.Doc();
  Y.applyUpdate(doc, before);
  doc.getMap("words").set(word, true);
  return Y.encodeStateAsUpdate(doc);
}
const save = async (bytes: Uint8Array, deps = test.deps, ifMatch?: string): Promise<void> =>
  saveContent(deps, await access(), { bytes, kind: "yjs" }, { ifMatch });
async function content(): Promise<Uint8Array> {
  const found = await contentWithLog(test.deps, await readDocumentWithLog(test.deps, id));
  if (found === undefined) throw new Error("the document has no content");
  return found.bytes;
}
async function words(): Promise<string[]> {
  const doc = new Y.Doc();
  Y.applyUpdate(doc, await content());
  return [...doc.getMap("words").keys()].toSorted();
}

/** Dependencies with which a blob is written or read only after `wait`. */
function depsThatWait(operation: "put" | "get", wait: () => Promise<void>): TestDeps["deps"] {
  const blobs = new Proxy(test.deps.blobs, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (name !== operation) return value.bind(target);
      return async (...given: unknown[]) => {
        await wait();
        return value.apply(target, given);
      };
    },
  });
  return { ...test.deps, blobs };
}

/** A save that waits before it writes the bytes. */
async function beginSave(bytes: Uint8Array): Promise<() => Promise<void>> {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const deps = depsThatWait("put", () => {
    reach();
    return gate;
  });
  const saved = save(bytes, deps);
  await Promise.race([reached, saved]);
  return () => {
    open();
    return saved;
  };
}

it("keeps what each of two concurrent saves has added, whichever is committed first", async () => {
  await save(stateWith("first"));
  const before = await content();
  const [finishOne, finishOther] = [
    await beginSave(stateWith("one", before)),
    await beginSave(stateWith("other", before)),
  ];
  await finishOne();
  await finishOther();
  expect(await words()).toEqual(["first", "one", "other"]);
});

it("loses no update that is appended while a conditional save includes the log", async () => {
  await save(stateWith("saved"));
  const append = (word: string): Promise<unknown> =>
    test.deps.updateLogs.use(id, async (log) =>
      log.append(stateWith(word, (await log.read()).state), { author: null }),
    );
  await append("logged");
  const read = await readDocumentWithLog(test.deps, id);
  const sent = stateWith("sent", await content());
  let isFirst = true;
  const deps = depsThatWait("get", async () => {
    if (!isFirst) return;
    isFirst = false;
    await append("meanwhile");
    await compactLog(test.deps, id);
  });
  await expect(save(sent, deps, `"${contentEtag(read)}"`)).rejects.toMatchObject({ code: "conflict" });
  expect(await words()).toEqual(["logged", "meanwhile", "saved"]);
});
