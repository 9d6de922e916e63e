import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import * as Y from "yjs";
import { LiveRequests } from "#lib/documents/live-requests/live-requests.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { createUser, type TestUser } from "#lib/testing/test-documents.ts";
import { type TestGateway, testGateway } from "#lib/testing/test-gateway.ts";
import { TestClient } from "../../client/collaboration/test-client.ts";

/** Time between two reads of the change feed, milliseconds. */
const FEED_MS = 20;
const PATIENCE_MS = 30_000;
/** By the stock provider over a socket, by server-sent events, and by polling. */
const KINDS = ["stock", "stream", "poll"] as const;
type Kind = (typeof KINDS)[number];

const MEMBERS = ["reader", "commenter", "editor", "administrator"] as const;
const CALLERS = ["anonymous", "none", ...MEMBERS, "owner"] as const;
type Caller = (typeof CALLERS)[number];

let test: TestDeps;
let gateway: TestGateway;
const users = new Map<string, TestUser>();
beforeAll(async () => {
  test = await testDeps();
  const deps = { ...test.deps, liveRequests: new LiveRequests(test.deps, { changesMs: FEED_MS }) };
  gateway = await testGateway({ deps }, { collaboration: true });
  for (const name of ["none", ...MEMBERS]) users.set(name, await createUser(test.deps, name));
});
afterAll(async () => {
  await gateway?.close();
  await test?.close();
});

const tokenOf = (caller: Caller): string | null =>
  caller === "anonymous" ? null : caller === "owner" ? TEST_TOKEN : (users.get(caller)?.token ?? "");

async function request(method: string, path: string, body?: unknown, token: string | null = TEST_TOKEN) {
  const response = await gateway.request(method, path, { token, ...(body === undefined ? {} : { body }) });
  if (response.status >= 400) throw new Error(`${method} ${path}: ${response.status} ${response.text}`);
  return response.body;
}

/** A root, a document in it, and a document in that. */
interface Tree {
  readonly root: string;
  readonly middle: string;
  readonly leaf: string;
}

async function createTree(): Promise<Tree> {
  const root = (await request("POST", "/documents/", { title: "Root" })).id;
  const middle = (await request("POST", `/documents/${root}/children/`, { title: "Middle" })).id;
  const leaf = (await request("POST", `/documents/${middle}/children/`, { title: "Leaf" })).id;
  return { root, middle, leaf };
}

const setLink = (id: string, link: string): Promise<unknown> => {
  const [link_reach, link_role] = link.split(" ");
  return request("PUT", `/documents/${id}/link-configuration/`, {
    link_reach,
    ...(link_role === undefined ? {} : { link_role }),
  });
};

const grant = async (id: string, user: string, role: string): Promise<string> =>
  (await request("POST", `/documents/${id}/accesses/`, { user_id: users.get(user)?.id, role })).id;

/** Sets the role of a user on a document; undefined removes it. */
function roleOf(id: string, user: string): (role: string | undefined) => Promise<void> {
  let access: string | undefined;
  return async (role) => {
    if (access === undefined) {
      if (role !== undefined) access = await grant(id, user, role);
    } else if (role === undefined) {
      await request("DELETE", `/documents/${id}/accesses/${access}/`);
      access = undefined;
    } else await request("PATCH", `/documents/${id}/accesses/${access}/`, { role });
  };
}

/** What the REST API lets a caller do with a document; `trash`: it is deleted, and the caller may read it. */
type Rights = "write" | "read" | "none" | "trash";

interface Participant {
  readonly caller: Caller;
  readonly kind: Kind;
  client: TestClient;
  /** What the client has written while it might not. */
  refused: string[];
  /** What it has written at about the time when it lost the right to. */
  late: string[];
}

/** A document with clients of several callers. */
class LiveDocument {
  readonly #id: string;
  readonly #participants: Participant[];
  /** What must be in the document. */
  readonly #written: string[] = [];
  #words = 0;

  constructor(context: TestContext, id: string, callers: readonly Caller[], kinds: readonly Kind[] = KINDS) {
    this.#id = id;
    this.#participants = callers.flatMap((caller) =>
      kinds.map((kind) => ({
        caller,
        kind,
        client: this.#connect(caller, kind),
        refused: [],
        late: [],
      })),
    );
    context.onTestFinished(() => {
      for (const { client } of this.#participants) client.close();
    });
  }

  /** Waits until each client may do what the REST API says, and checks that this is so. */
  async agree(): Promise<void> {
    const rights = new Map<Caller, Rights>();
    for (const { caller } of this.#participants)
      if (!rights.has(caller)) rights.set(caller, await this.#rightsOf(caller));
    await Promise.all(this.#participants.map((one) => this.#settle(one, rights.get(one.caller) ?? "none")));
    const writers = this.#participants.filter(({ caller }) => rights.get(caller) === "write");
    for (const one of this.#participants) {
      const word = this.#write(one);
      if (!writers.includes(one)) one.refused.push(word);
      else this.#written.push(...one.refused.splice(0), ...one.late.splice(0), word);
    }
    const unsaved = (): string[] =>
      writers.filter(({ client }) => !client.isSaved).map(({ caller, kind }) => `${caller} ${kind}`);
    await waitUntil(
      () => `everything to be saved, but not by ${unsaved()}`,
      () => unsaved().length === 0,
    );
    const stored = await this.#stored();
    if (stored === undefined) return;
    expect(this.#written.filter((word) => !stored.includes(word))).toEqual([]);
    const refused = this.#participants.flatMap((one) => one.refused);
    expect(refused.filter((word) => stored.includes(word))).toEqual([]);
  }

  /** Changes the permissions while everybody is writing: who keeps the right to write loses nothing. */
  async change(work: () => Promise<unknown>): Promise<void> {
    const writing = this.#participants.filter(({ client }) => client.rights === "write");
    for (const one of writing) one.late.push(this.#write(one));
    await work();
    for (const one of writing) one.late.push(this.#write(one));
    await this.agree();
  }

  #connect(caller: Caller, kind: Kind): TestClient {
    return new TestClient({ kind, origin: gateway.url, token: tokenOf(caller), id: this.#id });
  }

  async #rightsOf(caller: Caller): Promise<Rights> {
    const { status, body } = await gateway.request("GET", `/documents/${this.#id}/`, {
      token: tokenOf(caller),
    });
    if (status !== 200 || body.abilities.retrieve !== true) return "none";
    if (body.deleted_at !== null) return "trash";
    return body.abilities.update === true ? "write" : "read";
  }

  async #settle(one: Participant, rights: Rights): Promise<void> {
    const name = `${one.caller} ${one.kind}`;
    const current = (): string => {
      let shown: Rights | undefined = one.client.rights;
      // Nobody works on a deleted document: open sockets stay open for reading, and no others are accepted.
      if (rights === "trash" && shown !== "write" && shown !== undefined) shown = "trash";
      // A client that was refused connects again when its user opens the document again.
      if (shown === "none" && rights !== "none") {
        one.client.close();
        one.client = this.#connect(one.caller, one.kind);
        [one.refused, one.late] = [[], []];
      }
      return `${name}: ${shown}`;
    };
    await waitUntil(
      () => `${name}: ${rights}, not ${current()}`,
      () => current() === `${name}: ${rights}`,
    );
  }

  #write({ caller, kind, client }: Participant): string {
    this.#words += 1;
    const word = `${caller}-${kind}-${this.#words};`;
    const text = client.doc.getText("words");
    text.insert(text.length, word);
    return word;
  }

  /** Undefined if the document is deleted. */
  async #stored(): Promise<string | undefined> {
    const { status, body } = await gateway.request("GET", `/documents/${this.#id}/updates/`);
    if (status === 404) return undefined;
    const doc = new Y.Doc();
    for (const update of body.updates as string[]) Y.applyUpdate(doc, Buffer.from(update, "base64"));
    return doc.getText("words").toString();
  }
}

/** As `expect.poll`, which tests that run at the same time do not share. */
async function waitUntil(what: () => string, check: () => boolean): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!check()) {
    if (performance.now() > end) throw new Error(`waited for ${what()}`);
    await sleep(5);
  }
}

/** Goes from the first state to every other one and back, then from the second, and so on: every pair in both ways. */
function* everyChange<State>(states: readonly State[]): Generator<State> {
  for (const [at, state] of states.entries()) {
    if (at > 0) yield state;
    for (const other of states.slice(at + 1)) yield* [other, state];
  }
}

/** A commenter may write as little as a reader. */
const LINKS = [
  "restricted",
  "authenticated reader",
  "authenticated editor",
  "public commenter",
  "public editor",
] as const;

/** A commenter may write as little as a reader, and an administrator and an owner as much as an editor. */
const CHANGES = [
  ...everyChange([undefined, "reader", "editor"]),
  "commenter",
  "administrator",
  "commenter",
  "owner",
  undefined,
  "administrator",
];

/** Roles of a user who connects with the first one. */
const STARTS = [
  ["administrator", "reader", "administrator", undefined, "administrator", "editor"],
  ["commenter", "administrator", "commenter", undefined, "commenter", "owner"],
] as const;

describe.concurrent("a client that is connected may do what the REST API allows, after every change", () => {
  it.for(["its own", "inherited"])("of a link: %s", async (which, context) => {
    const { root, middle, leaf } = await createTree();
    for (const name of MEMBERS) await grant(root, name, name);
    const document = new LiveDocument(context, leaf, CALLERS, ["stock", "stream"]);
    await document.agree();
    const linked = which === "inherited" ? middle : leaf;
    for (const link of everyChange(LINKS)) await document.change(() => setLink(linked, link));
  });

  it.for(["own", "inherited"])("of a user's role: %s", async (which, context) => {
    const { root, middle, leaf } = await createTree();
    await grant(root, "editor", "editor");
    const document = new LiveDocument(context, leaf, ["none", "editor", "owner"]);
    await document.agree();
    const granted = which === "inherited" ? middle : leaf;
    const setRole = roleOf(granted, "none");
    for (const role of CHANGES) await document.change(() => setRole(role));
  });

  it.for(STARTS)("of the role of a user who connects as %s", async ([start, ...roles], context) => {
    const { root } = await createTree();
    const setRole = roleOf(root, "none");
    await setRole(start);
    const document = new LiveDocument(context, root, ["none", "owner"]);
    await document.agree();
    for (const role of roles) await document.change(() => setRole(role));
  });

  it.for(["root", "middle", "leaf"] as const)(
    "of the tree: %s deleted and restored",
    async (which, context) => {
      const tree = await createTree();
      for (const name of MEMBERS) await grant(tree.root, name, name);
      await setLink(tree.root, "public editor");
      const document = new LiveDocument(context, tree.leaf, CALLERS);
      await document.agree();
      await document.change(() => request("DELETE", `/documents/${tree[which]}/`));
      await document.change(() => request("POST", `/documents/${tree[which]}/restore/`));
    },
  );

  it("of the tree: an ancestor moved to documents with other permissions", async (context) => {
    const [tree, other] = [await createTree(), await createTree()];
    await setLink(tree.root, "public reader");
    await setLink(other.root, "authenticated editor");
    await grant(tree.root, "editor", "editor");
    await grant(other.root, "reader", "editor");
    const document = new LiveDocument(context, tree.leaf, ["anonymous", "none", "reader", "editor", "owner"]);
    await document.agree();
    for (const { root } of [other, tree, other])
      await document.change(() =>
        request("POST", `/documents/${tree.middle}/move/`, {
          target_document_id: root,
          position: "last-child",
        }),
      );
  });

  it("when a user leaves", async (context) => {
    const { root } = await createTree();
    await grant(root, "commenter", "editor");
    const document = new LiveDocument(context, root, ["commenter", "owner"]);
    await document.agree();
    await document.change(() =>
      request("POST", `/documents/${root}/leave/`, undefined, tokenOf("commenter")),
    );
  });
});
