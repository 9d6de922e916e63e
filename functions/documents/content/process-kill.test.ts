import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as Y from "yjs";
import { convert } from "#lib/conversion/convert.ts";
import { versionsTable } from "#lib/documents/tables/versions.ts";
import { toHandler } from "#lib/http/handler.ts";
import type { Converter } from "#lib/platform/converter.ts";
import { PlatformFault } from "#lib/platform/faults.ts";
import { type TestDeps, testClock, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-handler-call.ts";
import { readLog } from "#lib/testing/test-workflows.ts";
import { route as create } from "../documents/create.ts";
import { handler as get } from "./get.ts";
import { handler as patch } from "./patch.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const ID = "33333333-3333-4333-8333-333333333333";
const OLD = "old ".repeat(50_000);
const NEW = "new, and longer ".repeat(50_000);

const save = ({ deps }: TestDeps, text: string) =>
  call(deps, patch, { params: { id: ID }, body: { content: Buffer.from(text).toString("base64") } });
const read = ({ deps }: TestDeps) => call(deps, get, { params: { id: ID } });

/** Violations of the rule that every referenced blob exists and few blobs are unreferenced. */
async function faultsOf({ deps }: TestDeps): Promise<string[]> {
  const { items } = await deps.tables.query(versionsTable, { pk: ID });
  const blobs = new Set(await deps.blobs.list(`documents/${ID}/`));
  const missing = items.filter(({ sk }) => !blobs.has(`documents/${ID}/${sk}`));
  return [
    ...missing.map(({ sk }) => `version ${sk} has no bytes`),
    ...(blobs.size > items.length + 4 ? [`${blobs.size} blobs of ${items.length} versions`] : []),
  ];
}

test("a crash at any commit of a save leaves either the old or the new content", async () => {
  const root = await mkdtemp(join(tmpdir(), "weft-content-"));
  const prepared = join(root, "prepared");
  try {
    const before = await testDeps({ folder: prepared });
    await call(
      before.deps,
      toHandler(create, async () => before.deps),
      { body: { id: ID } },
    );
    // Old enough for the next save to remove some versions.
    for (let at = 0; at < 4; at += 1) expect((await save(before, `${at} ${OLD}`)).status).toBe(204);
    expect((await save(before, OLD)).status).toBe(204);
    await before.close();
    let commits = 0;
    for (let commit = 1; ; commit += 1) {
      const folder = join(root, String(commit));
      await cp(prepared, folder, { recursive: true });
      const clock = testClock();
      clock.advance(2 * HOUR_MS);
      let died = false;
      const onCrash = (): void => {
        died = true;
      };
      const dying = await testDeps({
        folder,
        clock,
        hostile: { seed: commit, crashAtCommit: commit, onCrash },
      });
      const told = (await save(dying, NEW)).status === 204;
      await dying.close();
      const after = await testDeps({ folder, clock });
      try {
        const { status, text } = await read(after);
        expect(status).toBe(200);
        expect(text === NEW || (!told && text === OLD), `died at ${commit}`).toBe(true);
        expect(await faultsOf(after)).toEqual([]);
        expect((await save(after, `${NEW}.`)).status).toBe(204);
        expect((await read(after)).text).toBe(`${NEW}.`);
        clock.advance(MINUTE_MS);
        await after.tick();
        expect((await readLog(after.deps, { topic: "documents.updated" })).total).toBe(1);
        clock.advance(2 * HOUR_MS);
        expect((await save(after, "last")).status).toBe(204);
        clock.advance(MINUTE_MS);
        await after.tick();
        const { items } = await after.deps.tables.query(versionsTable, { pk: ID });
        expect(await after.deps.blobs.list(`documents/${ID}/`)).toHaveLength(items.length);
      } finally {
        await after.close();
      }
      if (!died) break;
      commits = commit;
    }
    // At least the blob, the timer and the transaction.
    expect(commits).toBeGreaterThanOrEqual(3);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}, 120_000);

test("a crash while a diverged or older state is saved leaves the content before or after, and all edits", async () => {
  const root = await mkdtemp(join(tmpdir(), "weft-merge-"));
  const prepared = join(root, "prepared");
  const converter: Converter = {
    convert: async (conversion) => ({ ok: true, value: await convert(conversion) }),
  };
  const put = ({ deps }: TestDeps, state: Uint8Array) =>
    call(deps, patch, { params: { id: ID }, body: { content: Buffer.from(state).toString("base64") } });
  const textOf = async (at: TestDeps): Promise<string> => {
    const doc = new Y.Doc();
    Y.applyUpdate(doc, Buffer.from((await read(at)).text, "base64"));
    return doc
      .getXmlFragment("document-store")
      .toString()
      .replaceAll(/<[^>]*>/g, "");
  };
  /** An editor's copy of a state, after something was typed at the end of its only paragraph. */
  const typed = (state: Uint8Array, words: string): Uint8Array => {
    const doc = new Y.Doc();
    Y.applyUpdate(doc, state);
    const group = doc.getXmlFragment("document-store").get(0) as Y.XmlElement;
    const text = ((group.get(0) as Y.XmlElement).get(0) as Y.XmlElement).get(0) as Y.XmlText;
    text.insert(text.length, words);
    return Y.encodeStateAsUpdate(doc);
  };
  const first = (await convert({ from: "markdown", bytes: Buffer.from("one"), to: "yjs" })) as Uint8Array;
  const [ana, ben] = [typed(first, " Ana"), typed(first, " Ben")];
  try {
    const before = await testDeps({ folder: prepared, converter });
    await call(
      before.deps,
      toHandler(create, async () => before.deps),
      { body: { id: ID } },
    );
    for (const state of [first, ana]) expect((await put(before, state)).status).toBe(204);
    // An edit that is only in the log.
    await before.deps.updateLogs.use(ID, async (log) => {
      const { state } = await log.read();
      await log.append(Y.diffUpdate(typed(state, "!"), Y.encodeStateVectorFromUpdate(state)), {
        author: null,
      });
    });
    await before.close();
    const cases = [
      { sent: ben, isDone: (text: string) => /^one(?: Ana!? Ben| Ben Ana!?)$/.test(text) },
      { sent: first, isDone: (text: string) => text === "one" },
    ];
    for (const [at, { sent, isDone }] of cases.entries()) {
      let commits = 0;
      for (let commit = 1; commit < 60; commit += 1) {
        const folder = join(root, `${at}-${commit}`);
        await cp(prepared, folder, { recursive: true });
        let died = false;
        const onCrash = (): void => {
          died = true;
        };
        const dying = await testDeps({
          folder,
          converter,
          hostile: { seed: commit, crashAtCommit: commit, onCrash },
        });
        const told = (await put(dying, sent)).status === 204;
        await dying.close();
        const after = await testDeps({ folder, converter });
        try {
          const text = await textOf(after);
          expect(isDone(text) || (!told && text === "one Ana!"), `${text}, died at ${commit}`).toBe(true);
          expect(await faultsOf(after)).toEqual([]);
          expect((await put(after, sent)).status).toBe(204);
          const last = await textOf(after);
          expect(isDone(last), `case ${at}: ${text}, then ${last}, died at ${commit}`).toBe(true);
        } finally {
          await after.close();
        }
        if (!died) break;
        commits = commit;
      }
      expect(commits).toBeGreaterThanOrEqual(2);
    }
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}, 120_000);

test("with rejected, repeated and lost calls, reads return content that was saved completely", async () => {
  for (let seed = 1; seed <= 6; seed += 1) {
    const hostile = { seed, throttles: 0.1, conflicts: 0.1, lostAnswers: 0.1 };
    const house = await testDeps({ hostile });
    try {
      const untilDone = async (work: () => Promise<{ status: number }>): Promise<void> => {
        for (let tries = 0; tries < 200; tries += 1) {
          const { status } = await work().catch((error: unknown) => {
            if (error instanceof PlatformFault) return { status: 503 };
            throw error;
          });
          // 400 for a repeated creation whose first response was lost: the document exists.
          if (status <= 400) return;
          expect([409, 429, 503]).toContain(status);
        }
        throw new Error("never done");
      };
      const made = toHandler(create, async () => house.deps);
      await untilDone(() => call(house.deps, made, { body: { id: ID } }));
      const texts = ["one ", "two ", "three "].map((text) => text.repeat(30_000));
      await Promise.all(texts.map((text) => untilDone(() => save(house, text))));
      let found: Awaited<ReturnType<typeof read>> | undefined;
      await untilDone(async () => {
        found = await read(house);
        return found;
      });
      expect(texts.includes(found?.text ?? "")).toBe(true);
    } finally {
      await house.close();
    }
  }
}, 60_000);
