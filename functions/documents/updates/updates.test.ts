import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Awareness, applyAwarenessUpdate, encodeAwarenessUpdate } from "y-protocols/awareness";
import * as Y from "yjs";
import { authorize } from "#lib/documents/authorization/document-access.ts";
import { saveContent } from "#lib/documents/content/save.ts";
import { AwarenessHub } from "#lib/documents/updates/awareness-hub.ts";
import { AwarenessStore } from "#lib/documents/updates/awareness-store.ts";
import { compactLog } from "#lib/documents/updates/compact.ts";
import { UpdateLogs } from "#lib/documents/updates/update-log.ts";
import { createToken } from "#lib/documents/users/tokens.ts";
import { getOrCreateOwner } from "#lib/documents/users/users.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { createUser, grantRole, type TestUser } from "#lib/testing/test-documents.ts";
import { TestEventStream } from "#lib/testing/test-event-stream.ts";
import { type TestGateway, testGateway } from "#lib/testing/test-gateway.ts";
import { signIn } from "#lib/testing/test-sessions.ts";

let test: TestDeps;
let gateway: TestGateway;
let id: string;
let ann: TestUser;
beforeEach(async () => {
  test = await testDeps();
  gateway = await testGateway(test);
  id = (await gateway.request("POST", "/documents/", { body: { title: "Notes" } })).body.id;
  ann = await createUser(test.deps, "ann");
});
afterEach(async () => {
  await gateway.close();
  await test.close();
});

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64"));

/** A copy of the document. */
class Editor {
  readonly doc = new Y.Doc();

  apply(updates: readonly string[]): void {
    for (const update of updates) Y.applyUpdate(this.doc, bytes(update));
  }

  /** Appends text, and returns the update. */
  type(text: string): string {
    const before = Y.encodeStateVector(this.doc);
    this.doc.getText("t").insert(this.doc.getText("t").length, text);
    return base64(Y.encodeStateAsUpdate(this.doc, before));
  }

  get text(): string {
    return this.doc.getText("t").toString();
  }
}

type Who = string | null;
const post = (body: unknown, token: Who = TEST_TOKEN) =>
  gateway.request("POST", `/documents/${id}/updates/`, { body, token });
const read = (query: Record<string, string | number> = {}, token: Who = TEST_TOKEN) =>
  gateway.request("GET", `/documents/${id}/updates/?${new URLSearchParams(entries(query))}`, { token });
const entries = (query: Record<string, string | number>): [string, string][] =>
  Object.entries(query).map(([name, value]) => [name, String(value)]);
const stream = (headers: Record<string, string> = {}, token: Who = TEST_TOKEN, query = "") =>
  TestEventStream.open(`${gateway.url}/api/v1.0/documents/${id}/updates/${query}`, {
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...headers,
  });
const text = async (): Promise<string> => {
  const editor = new Editor();
  editor.apply((await read()).body.updates);
  return editor.text;
};

/** Replaces the content as a whole. */
async function replaceContent(): Promise<void> {
  const owner = await getOrCreateOwner(test.deps, test.deps.documents.ownerEmail);
  const access = await authorize(test.deps, owner, id, "content_patch");
  const editor = new Editor();
  editor.type("other");
  const content = { bytes: Y.encodeStateAsUpdate(editor.doc), kind: "yjs" } as const;
  await saveContent(test.deps, access, content, undefined);
}

describe("updates that are sent", () => {
  it("are merged, in order, and are in the content", async () => {
    const editor = new Editor();
    const updates = ["a", "b", "c"].map((letter) => editor.type(letter));
    const { status, body } = await post({ generation: 0, updates });
    expect([status, body]).toEqual([200, { generation: 0, position: 1 }]);
    expect(await text()).toBe("abc");
    const content = new Y.Doc();
    Y.applyUpdate(content, bytes((await gateway.request("GET", `/documents/${id}/content/`)).text));
    expect(content.getText("t").toString()).toBe("abc");
  });

  it("have no effect when they are sent again", async () => {
    const editor = new Editor();
    const updates = [editor.type("a"), editor.type("b")];
    // While somebody listens, the log of the document is open.
    await using events = await stream();
    await events.until("sync");
    const first = await post({ updates });
    for (let again = 0; again < 3; again += 1) expect((await post({ updates })).body).toEqual(first.body);
    expect((await read()).body.position).toBe(1);
    expect(await text()).toBe("ab");
  });

  it("of several editors are merged whatever their order", async () => {
    const editors = [new Editor(), new Editor(), new Editor()];
    await Promise.all(editors.map((editor, n) => post({ updates: [editor.type(`${n}`)] })));
    expect([...(await text())].toSorted().join("")).toBe("012");
  });

  it("need the right to edit", async () => {
    const updates = [new Editor().type("a")];
    expect((await post({ updates }, null)).status).toBe(401);
    expect((await post({ updates }, ann.token)).status).toBe(403);
    await grantRole(test.deps, id, ann.id, "reader");
    expect((await post({ updates }, ann.token)).status).toBe(403);
    expect((await read({}, ann.token)).status).toBe(200);
    const link = { link_reach: "public", link_role: "editor" };
    await gateway.request("PUT", `/documents/${id}/link-configuration/`, { body: link });
    expect((await post({ updates }, null)).status).toBe(200);
    expect(await text()).toBe("a");
  });

  it("to another generation are refused with the current one", async () => {
    const updates = [new Editor().type("a")];
    expect((await post({ updates, generation: 0 })).status).toBe(200);
    await replaceContent();
    const refused = await post({ generation: 0, updates });
    expect([refused.status, refused.body]).toEqual([412, { detail: expect.any(String), generation: 1 }]);
    expect(await read({ generation: 0 })).toMatchObject({ status: 412, body: { generation: 1 } });
    expect((await post({ generation: 1, updates })).body).toEqual({ generation: 1, position: 1 });
  });

  it("to a deleted document are refused", async () => {
    await gateway.request("DELETE", `/documents/${id}/`);
    expect((await post({ updates: [new Editor().type("a")] })).status).toBe(404);
    expect((await read()).status).toBe(404);
  });

  it.each([
    [{}, { updates: ["This field is required."] }],
    [[], { non_field_errors: ["Invalid data. Expected a dictionary, but got list."] }],
    [{ updates: [] }, { updates: [expect.any(String)] }],
    [{ updates: Array(101).fill("AAA=") }, { updates: [expect.any(String)] }],
    [{ updates: "AAA=" }, { updates: ["Expected a list of items."] }],
    [{ updates: [7] }, { updates: ["Not a valid string."] }],
    [{ updates: ["AAA=", "?"] }, { updates: ["Update 2: Invalid base64 content."] }],
    [{ updates: [base64(Buffer.from("text"))] }, { updates: ["Update 1 is not a Yjs update."] }],
    [{ updates: [base64(randomBytes(5_000))] }, { updates: ["Update 1 is not a Yjs update."] }],
    [{ updates: ["AAA="], generation: -1 }, { generation: [expect.any(String)] }],
    [{ updates: ["AAA="], generation: "x" }, { generation: [expect.any(String)] }],
  ])("in %.60j are refused by their field", async (body, said) => {
    const refused = await post(body);
    expect([refused.status, refused.body]).toEqual([400, said]);
  });

  it("are limited in size, with the field's name", async () => {
    const editor = new Editor();
    const large = editor.type("x".repeat(8 * 1024 * 1024));
    const refused = await post({ updates: [large] });
    expect([refused.status, refused.body]).toEqual([413, { updates: ["Update 1 is larger than 8 MiB."] }]);
    const huge = await post({ updates: ["A".repeat(13 * 1024 * 1024)] });
    expect([huge.status, huge.body]).toEqual([413, { detail: expect.any(String) }]);
  });
});

describe("updates that are read", () => {
  it("are those after a position, or those that a state vector lacks", async () => {
    const writer = new Editor();
    const reader = new Editor();
    await post({ updates: [writer.type("a")] });
    const first = (await read()).body;
    reader.apply(first.updates);
    await post({ updates: [writer.type("b")] });
    const since = (await read({ generation: 0, position: first.position })).body;
    expect([since.position, since.updates.length]).toEqual([2, 1]);
    const vector = base64(Y.encodeStateVector(reader.doc));
    const missing = (await read({ state_vector: vector })).body;
    reader.apply(missing.updates);
    expect(reader.text).toBe("ab");
    expect(Y.decodeStateVector(bytes(missing.state_vector))).toEqual(
      Y.decodeStateVector(Y.encodeStateVector(reader.doc)),
    );
    expect((await read({ generation: 0, position: 2 })).body).toEqual({
      generation: 0,
      position: 2,
      updates: [],
      permissions: { content_retrieve: true, content_patch: true },
    });
  });

  it("are the whole content if the entries after the position were compacted", async () => {
    const writer = new Editor();
    for (const letter of "abc") await post({ updates: [writer.type(letter)] });
    await compactLog(test.deps, id);
    const { body } = await read({ generation: 0, position: 1 });
    const reader = new Editor();
    reader.apply(body.updates);
    expect([reader.text, body.position]).toEqual(["abc", 3]);
  });

  it.each([
    [{ state_vector: "?" }, "state_vector"],
    [{ state_vector: "////" }, "state_vector"],
    [{ state_vector: "A".repeat(12_001) }, "state_vector"],
    [{ position: 1 }, "generation"],
    [{ generation: 0, position: -1 }, "position"],
    [{ generation: 0, position: "x" }, "position"],
    [{ generation: 0, position: 1e15 }, "position"],
    [{ wait: 26 }, "wait"],
    [{ content_patch: "yes" }, "content_patch"],
  ])("with %.40j are refused by the field", async (query, field) => {
    const { status, body } = await read(query);
    expect([status, Object.keys(body)]).toEqual([400, [field]]);
  });

  it("after a position that does not exist yet are the whole content", async () => {
    const { status, body } = await read({ generation: 0, position: 10 });
    expect([status, body.position]).toEqual([200, 0]);
  });
});

describe("a long poll", () => {
  it("is answered as soon as there is an update", async () => {
    const waiting = read({ generation: 0, position: 0, wait: 25 });
    const writer = new Editor();
    const reader = new Editor();
    await post({ updates: [writer.type("a")] });
    const { body } = await waiting;
    reader.apply(body.updates);
    expect([reader.text, body.position]).toEqual(["a", 1]);
  });

  it("is answered with nothing after the time", async () => {
    const { body } = await read({ generation: 0, position: 0, wait: 1 });
    const permissions = { content_retrieve: true, content_patch: true };
    expect(body).toEqual({ generation: 0, position: 0, updates: [], permissions });
  });

  it("is answered at once if the right to edit has changed since the last one", async () => {
    await grantRole(test.deps, id, ann.id, "reader");
    const asked = { generation: 0, position: 0, wait: 25 };
    const patchOf = async (known: string): Promise<unknown> =>
      (await read({ ...asked, content_patch: known }, ann.token)).body.permissions.content_patch;
    expect(await patchOf("true")).toBe(false);
    const { body: accesses } = await gateway.request("GET", `/documents/${id}/accesses/`);
    const access = accesses.find((one: { user: { id: string } | null }) => one.user?.id === ann.id);
    await gateway.request("PATCH", `/documents/${id}/accesses/${access.id}/`, { body: { role: "editor" } });
    expect(await patchOf("false")).toBe(true);
  });

  it("is refused as soon as access is lost", async () => {
    await grantRole(test.deps, id, ann.id, "reader");
    const first = (await read({}, ann.token)).body;
    const waiting = read({ generation: 0, position: first.position, wait: 25 }, ann.token);
    const { body: accesses } = await gateway.request("GET", `/documents/${id}/accesses/`);
    const access = accesses.find((one: { user: { id: string } | null }) => one.user?.id === ann.id);
    await gateway.request("DELETE", `/documents/${id}/accesses/${access.id}/`);
    expect((await waiting).status).toBe(403);
  });
});

describe("a stream", () => {
  it("sends the content, then each update with its position", async () => {
    const writer = new Editor();
    const reader = new Editor();
    await post({ updates: [writer.type("a")] });
    await using events = await stream();
    expect(events.response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect((await events.until("permissions")).data).toEqual({ content_retrieve: true, content_patch: true });
    const sync = await events.until("sync");
    reader.apply(sync.data.updates);
    expect([reader.text, sync.id]).toEqual(["a", "0.1"]);
    await post({ updates: [writer.type("b")] });
    const update = await events.next();
    reader.apply(update?.data.updates);
    expect([update?.name, update?.id, reader.text]).toEqual(["update", "0.2", "ab"]);
  });

  it("resumes after the last event, also over a compaction", async () => {
    const writer = new Editor();
    const reader = new Editor();
    let lastId: string;
    {
      await using events = await stream();
      reader.apply((await events.until("sync")).data.updates);
      await post({ updates: [writer.type("a")] });
      reader.apply((await events.until("update")).data.updates);
      lastId = events.lastId ?? "";
    }
    await post({ updates: [writer.type("b")] });
    await post({ updates: [writer.type("c")] });
    {
      await using events = await stream({ "last-event-id": lastId });
      const [, update] = [await events.next(), await events.next()];
      reader.apply(update?.data.updates);
      expect([update?.name, update?.id, reader.text]).toEqual(["update", "0.3", "abc"]);
      await post({ updates: [writer.type("d")] });
      expect((await events.next())?.id).toBe("0.4");
    }
    await compactLog(test.deps, id);
    await using events = await stream({ "last-event-id": lastId });
    const sync = await events.until("sync");
    reader.apply(sync.data.updates);
    expect([reader.text, sync.id]).toEqual(["abcd", "0.4"]);
  });

  it("sends what other processes append", async () => {
    await using events = await stream();
    await events.until("sync");
    const elsewhere = new UpdateLogs(test.deps);
    await elsewhere.use(id, (log) => log.append(bytes(new Editor().type("a")), { author: null }));
    await test.deps.updateLogs.refresh();
    expect((await events.next())?.id).toBe("0.1");
  });

  it("tells the caller when the right to edit is lost, and ends with the right to read", async () => {
    await grantRole(test.deps, id, ann.id, "editor");
    await using events = await stream({}, ann.token);
    expect((await events.until("permissions")).data.content_patch).toBe(true);
    const { body: accesses } = await gateway.request("GET", `/documents/${id}/accesses/`);
    const access = accesses.find((one: { user: { id: string } | null }) => one.user?.id === ann.id);
    const at = `/documents/${id}/accesses/${access.id}/`;
    await gateway.request("PATCH", at, { body: { role: "reader" } });
    expect((await events.until("permissions")).data).toEqual({
      content_retrieve: true,
      content_patch: false,
    });
    await gateway.request("DELETE", at);
    expect((await events.until("permissions")).data).toEqual({
      content_retrieve: false,
      content_patch: false,
    });
    expect(await events.next()).toBeUndefined();
  });

  it.each(["revoked", "expired", "logged out"])(
    "ends when the caller's token or session has %s, though anonymous users may read",
    async (how) => {
      const link = { link_reach: "public", link_role: "editor" };
      await gateway.request("PUT", `/documents/${id}/link-configuration/`, { body: link });
      const browser = await signIn(test.deps, ann.id);
      const { token, record } = await createToken(test.deps, { email: "ann@example.com" });
      await using events = await (how === "revoked" ? stream({}, token) : stream(browser.headers, null));
      await events.until("sync");
      if (how === "revoked") await gateway.request("DELETE", `/access-tokens/${record.id}/`);
      else if (how === "expired") test.clock.advance(test.deps.documents.sessions.maxMs + 1);
      else {
        const headers = { ...browser.unsafeHeaders, origin: gateway.url };
        expect((await gateway.request("POST", "/logout/", { token: null, headers })).status).toBeLessThan(
          400,
        );
      }
      expect((await events.until("permissions")).data.content_retrieve).toBe(false);
      await events.end();
    },
  );

  it("ends when the document or an ancestor is deleted", async () => {
    const child = (await gateway.request("POST", `/documents/${id}/children/`, { body: {} })).body.id;
    const parent = id;
    id = child;
    await using events = await stream();
    await events.until("sync");
    await gateway.request("DELETE", `/documents/${parent}/`);
    expect((await events.until("permissions")).data.content_retrieve).toBe(false);
    await events.end();
  });

  it("ends when the content is replaced", async () => {
    await using events = await stream();
    await events.until("sync");
    await replaceContent();
    expect((await events.until("end")).data).toEqual({ generation: 0 });
    await events.end();
    await using again = await stream({ "last-event-id": events.lastId ?? "" });
    expect([again.response.status, JSON.parse(await again.rest()).generation]).toEqual([412, 1]);
  });

  it("is limited per caller, and frees its place when the client disconnects", async () => {
    const { perCaller } = test.deps.liveRequests.limits;
    const open = await Promise.all(Array.from({ length: perCaller }, () => stream()));
    const refused = await stream();
    expect(refused.response.status).toBe(429);
    expect(await refused.rest()).toBe(
      '{"detail":"At most 100 requests of one caller may wait for updates."}',
    );
    await Promise.all(open.map((one) => one.close()));
    await expect
      .poll(async () => {
        await using again = await stream();
        return again.response.status;
      })
      .toBe(200);
  });

  it("ends when the server stops, and the client may then come back", async () => {
    await using events = await stream();
    await events.until("sync");
    test.deps.liveRequests.stop();
    expect(await events.next()).toBeUndefined();
    expect((await stream()).response.status).toBe(503);
  });
});

describe("awareness", () => {
  /** The awareness of a client with a state, encoded. */
  const awarenessOf = (state: Record<string, unknown>): { client: number; update: string } => {
    const awareness = new Awareness(new Y.Doc());
    awareness.setLocalState(state);
    const update = base64(encodeAwarenessUpdate(awareness, [awareness.clientID]));
    awareness.destroy();
    return { client: awareness.clientID, update };
  };
  const statesIn = (updates: readonly string[]): Map<number, Record<string, unknown>> => {
    const awareness = new Awareness(new Y.Doc());
    awareness.setLocalState(null);
    for (const update of updates) applyAwarenessUpdate(awareness, bytes(update), "test");
    awareness.destroy();
    return awareness.getStates();
  };

  it("reaches streams with a name and color that the server sets, also later ones", async () => {
    await grantRole(test.deps, id, ann.id, "reader");
    await using events = await stream();
    await events.until("sync");
    const cursor = { anchor: 1, head: 2 };
    const { client, update } = awarenessOf({ user: { name: "Somebody else", color: "#000000" }, cursor });
    expect((await post({ awareness: update }, ann.token)).status).toBe(200);
    for (const { data } of [await events.until("awareness"), await (await stream()).until("awareness")])
      expect(statesIn([data.update]).get(client)).toEqual({
        user: { name: "ann", color: expect.stringMatching(/^#/) },
        cursor,
      });
  });

  it("of a client cannot be changed by another user", async () => {
    await grantRole(test.deps, id, ann.id, "reader");
    await using events = await stream();
    await events.until("sync");
    const doc = new Y.Doc();
    const own = new Awareness(doc);
    own.setLocalState({ cursor: 1 });
    await post({ awareness: base64(encodeAwarenessUpdate(own, [doc.clientID])) });
    await events.until("awareness");
    own.setLocalState({ cursor: 2 });
    await post({ awareness: base64(encodeAwarenessUpdate(own, [doc.clientID])) }, ann.token);
    own.destroy();
    const { client, update } = awarenessOf({ cursor: 3 });
    await post({ awareness: update }, ann.token);
    const states = statesIn([(await events.until("awareness")).data.update]);
    expect([states.get(client), states.has(doc.clientID)]).toEqual([{ cursor: 3 }, false]);
  });

  it("reaches a long poll that waits for it, once, and later ones", async () => {
    const waiting = read({ generation: 0, position: 0, wait: 25, awareness_tag: "" });
    const { client, update } = awarenessOf({ cursor: 1 });
    await post({ awareness: update });
    const { body } = await waiting;
    expect(statesIn([body.awareness]).get(client)).toEqual({ cursor: 1 });
    expect(statesIn([(await read()).body.awareness]).get(client)).toEqual({ cursor: 1 });
    const same = await read({ generation: 0, position: 0, wait: 1, awareness_tag: body.awareness_tag });
    expect([same.body.awareness, same.body.awareness_tag]).toEqual([undefined, undefined]);
  });

  it("tells polls that a client has left", async () => {
    const own = new Awareness(new Y.Doc());
    own.setLocalState({ cursor: 1 });
    const { clientID } = own;
    await post({ awareness: base64(encodeAwarenessUpdate(own, [clientID])) });
    const present = (await read()).body;
    await post({ awareness: base64(encodeAwarenessUpdate(own, [clientID], new Map())) });
    own.destroy();
    const query = { generation: 0, position: 0, wait: 25, awareness_tag: present.awareness_tag };
    const { awareness } = (await read(query)).body;
    expect([statesIn([present.awareness]).size, statesIn([present.awareness, awareness]).size]).toEqual([
      1, 0,
    ]);
  });

  it("of a client that has left may be set by another connection of it", async () => {
    await grantRole(test.deps, id, ann.id, "reader");
    const own = new Awareness(new Y.Doc());
    const { clientID } = own;
    own.setLocalState({ cursor: 1 });
    await post({ awareness: base64(encodeAwarenessUpdate(own, [clientID])) });
    await post({ awareness: base64(encodeAwarenessUpdate(own, [clientID], new Map())) });
    own.setLocalState({ cursor: 2 });
    await post({ awareness: base64(encodeAwarenessUpdate(own, [clientID])) }, ann.token);
    own.destroy();
    expect(statesIn([(await read()).body.awareness]).get(clientID)).toEqual({ cursor: 2 });
  });

  it("passes between processes that share only the tables, to streams and polls", async () => {
    const startProcess = () => {
      const options = { store: new AwarenessStore(test.deps), refreshMs: 20, log: test.deps.log };
      return testGateway({ deps: { ...test.deps, awarenessHub: new AwarenessHub(options) } });
    };
    const [one, other] = await Promise.all([startProcess(), startProcess()]);
    try {
      const path = `/documents/${id}/updates/`;
      await using events = await TestEventStream.open(`${other.url}/api/v1.0${path}`, {
        authorization: `Bearer ${TEST_TOKEN}`,
      });
      await events.until("sync");
      const waiting = other.request("GET", `${path}?generation=0&position=0&wait=25&awareness_tag=`);
      const { client, update } = awarenessOf({ user: { name: "Somebody else" }, cursor: 1 });
      expect((await one.request("POST", path, { body: { awareness: update } })).status).toBe(200);
      const state = { user: { name: "owner", color: expect.stringMatching(/^#/) }, cursor: 1 };
      expect(statesIn([(await events.until("awareness")).data.update]).get(client)).toEqual(state);
      expect(statesIn([(await waiting).body.awareness]).get(client)).toEqual(state);
    } finally {
      await Promise.all([one.close(), other.close()]);
    }
  });

  it("is limited per caller, with the name of the field, and nothing of the request is appended", async () => {
    const { update } = awarenessOf({ cursor: 1 });
    const { burst } = test.deps.liveRequests.limits.awareness;
    const flood = await Promise.all(Array.from({ length: burst * 3 }, () => post({ awareness: update })));
    const refused = flood.find(({ status }) => status === 429);
    expect(refused?.body).toEqual({ awareness: ["A caller may send awareness 5 times per second."] });
    expect(refused?.headers.get("retry-after")).toBe("1");
    await grantRole(test.deps, id, ann.id, "editor");
    const updates = [new Editor().type("a")];
    expect((await post({ awareness: update, updates }, ann.token)).status).toBe(200);
    expect((await post({ updates })).status).toBe(200);
  });

  it.each([
    ["no base64", "????"],
    ["bytes", base64(randomBytes(100))],
    ["too many clients", base64(Buffer.from([9, ...Array(9).fill([1, 1, 2, 0x7b, 0x7d]).flat()]))],
    ["a list", base64(Buffer.from([1, 1, 1, 2, 0x5b, 0x5d]))],
    ["deep", awarenessWith(`{"a":${"[".repeat(50)}${"]".repeat(50)}}`)],
    ["large", base64(Buffer.alloc(17_000))],
    ["a length beyond the end", base64(Buffer.from([1, 1, 1, 100, 0x7b]))],
    ["a number that does not end", base64(Buffer.alloc(50, 0xff))],
  ])("that is %s is refused", async (_title, awareness) => {
    const { status, body } = await post({ awareness });
    expect([status, Object.keys(body)]).toEqual([400, ["awareness"]]);
  });
});

function awarenessWith(state: string): string {
  return base64(Buffer.concat([Buffer.from([1, 1, 1, state.length]), Buffer.from(state)]));
}
