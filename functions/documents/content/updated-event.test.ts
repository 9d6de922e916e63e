import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TOPICS } from "#lib/events/topics.ts";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { readLog } from "#lib/testing/test-workflows.ts";
import { route as create } from "../documents/create.ts";
import { route as remove } from "../documents/delete.ts";
import { route as update } from "../documents/update.ts";
import { route as patch } from "./patch.ts";

let test: TestDeps;
let id: string;
beforeEach(async () => {
  test = await testDeps();
  id = (await call(test.deps, create, { body: { title: "Told" } })).body.id;
});
afterEach(() => test.close());

const save = (text: string) =>
  call(test.deps, patch, { params: { id }, body: { content: Buffer.from(text).toString("base64") } });
const told = async () => {
  const { records } = await readLog(test.deps, { topic: "documents.updated" });
  return records.toReversed().map(({ data }) => JSON.parse(data));
};
const wait = async (seconds: number): Promise<void> => {
  test.clock.advance(seconds * 1000);
  await test.tick();
};

describe("edits of a document", () => {
  it("emit one event after half a minute, however many there are and however long they continue", async () => {
    for (let second = 0; second < 60; second += 5) {
      await save(`after ${second} s`);
      await wait(5);
    }
    expect(await told()).toHaveLength(2);
    await wait(40);
    const all = await told();
    expect(all.length).toBeLessThanOrEqual(3);
    expect(all[0]).toEqual({
      document_id: id,
      title: "Told",
      parent_id: null,
      changed: ["content"],
      user_id: expect.any(String),
      user_ids: [all[0]?.user_id],
    });
    for (const data of all) expect(TOPICS["documents.updated"].data.parse(data)).toEqual(data);
    await wait(600);
    expect(await told()).toHaveLength(all.length);
  });

  it("are listed in the event, including the title, with the current document", async () => {
    await call(test.deps, update, { params: { id }, body: { title: "First" } });
    await wait(10);
    await save("and content");
    await call(test.deps, update, { params: { id }, body: { title: "Second" } });
    expect(await told()).toEqual([]);
    await wait(20);
    expect(await told()).toMatchObject([{ title: "Second", changed: ["content", "title"] }]);
    await call(test.deps, update, { params: { id }, body: { excerpt: "short" } });
    await wait(31);
    expect((await told())[1]).toMatchObject({ changed: ["excerpt"] });
  });

  it("without changes emit no event, nor do those of a document that was deleted meanwhile", async () => {
    await save("same");
    await wait(31);
    await save("same");
    await call(test.deps, update, { params: { id }, body: {} });
    await wait(31);
    expect(await told()).toHaveLength(1);
    await save("other");
    await call(test.deps, remove, { params: { id } });
    await wait(31);
    expect(await told()).toHaveLength(1);
  });

  it("that were pending when a process died are emitted with the next", async () => {
    const { timers } = test.deps;
    const deaf = { ...test.deps, timers: { ...timers, set: async () => undefined } };
    await call(deaf, patch, { params: { id }, body: { content: "YQ==" } });
    await wait(100);
    expect(await told()).toEqual([]);
    await save("next");
    await wait(31);
    expect(await told()).toHaveLength(1);
  });
});
