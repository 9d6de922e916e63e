import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as Y from "yjs";
import { LiveRequests } from "#lib/documents/live-requests/live-requests.ts";
import { createToken } from "#lib/documents/users/tokens.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { createUser, grantRole, type TestUser } from "#lib/testing/test-documents.ts";
import { type TestGateway, testGateway } from "#lib/testing/test-gateway.ts";
import { signIn } from "#lib/testing/test-sessions.ts";
import { TestClient, type TestClientOptions } from "../../client/collaboration/test-client.ts";

const HOUR_MS = 3_600_000;
/** The stock provider over a socket, server-sent events, and polling. */
const KINDS = ["stock", "stream", "poll"] as const;

let test: TestDeps;
let gateway: TestGateway;
let id: string;
let ann: TestUser;
const clients: TestClient[] = [];
beforeEach(async () => {
  test = await testDeps();
  // Nothing is written when a token expires, so it is noticed when access is checked anyway.
  const liveRequests = new LiveRequests(test.deps, { changesMs: 20, recheckMs: 200 });
  gateway = await testGateway({ deps: { ...test.deps, liveRequests } }, { collaboration: true });
  id = (await gateway.request("POST", "/documents/", { body: { title: "Notes" } })).body.id;
  ann = await createUser(test.deps, "ann");
  await grantRole(test.deps, id, ann.id, "editor");
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await gateway.close();
  await test.close();
});

type Credentials = Pick<TestClientOptions, "token" | "browser">;

interface Ending {
  readonly credentials: Credentials;
  end(): Promise<unknown>;
}

async function token(how: "revoked" | "expired"): Promise<Ending> {
  const expires_at = new Date(test.clock.now() + HOUR_MS).toISOString();
  const created = await createToken(test.deps, { email: "ann@example.com", expires_at });
  return {
    credentials: { token: created.token },
    end: async () =>
      how === "revoked"
        ? gateway.request("DELETE", `/access-tokens/${created.record.id}/`)
        : test.clock.advance(HOUR_MS),
  };
}

/** Headers of a browser with a session of its own. */
async function signedIn(): Promise<Record<string, string>> {
  const { host: _, ...headers } = (await signIn(test.deps, ann.id)).unsafeHeaders;
  return { ...headers, origin: gateway.url };
}

async function session(how: "logged out" | "ended" | "expired"): Promise<Ending> {
  const browser = await signedIn();
  const asked = { token: null, headers: browser };
  return {
    credentials: { token: null, browser },
    end: async () => {
      if (how === "logged out") return gateway.request("POST", "/logout/", asked);
      if (how === "ended") {
        const headers = await signedIn();
        return gateway.request("DELETE", "/users/me/sessions/", { token: null, headers });
      }
      return test.clock.advance(test.deps.documents.sessions.maxMs + 1);
    },
  };
}

function connect(kind: TestClientOptions["kind"], credentials: Credentials): TestClient {
  const client = new TestClient({ kind, origin: gateway.url, id, ...credentials });
  clients.push(client);
  return client;
}

const write = ({ doc }: TestClient, word: string): void => doc.getText("words").insert(0, word);
const saved = (client: TestClient): Promise<void> =>
  expect.poll(() => [client.kind, client.isSaved]).toEqual([client.kind, true]);

async function storedText(): Promise<string> {
  const { body } = await gateway.request("GET", `/documents/${id}/updates/`);
  const doc = new Y.Doc();
  for (const update of body.updates as string[]) Y.applyUpdate(doc, Buffer.from(update, "base64"));
  return doc.getText("words").toString();
}

describe("a client that is connected", () => {
  it.each([
    ["token is revoked", () => token("revoked")],
    ["token expires", () => token("expired")],
    ["session is logged out", () => session("logged out")],
    ["session is ended by another one", () => session("ended")],
    ["session expires", () => session("expired")],
  ])("is disconnected when its %s, and nothing is saved afterwards", async (_how, begin) => {
    const { credentials, end } = await begin();
    const owner = connect("stream", { token: TEST_TOKEN });
    const others = KINDS.map((kind) => connect(kind, credentials));
    const rights = () => others.map((client) => [client.kind, client.rights]);
    const all = (right: string) => KINDS.map((kind) => [kind, right]);
    await expect.poll(rights).toEqual(all("write"));
    for (const client of others) write(client, `${client.kind} before;`);
    await Promise.all(others.map(saved));
    await end();
    await expect.poll(rights).toEqual(all("none"));
    for (const client of others) write(client, `${client.kind} after;`);
    write(owner, "by the owner;");
    await saved(owner);
    const text = await storedText();
    for (const kind of KINDS) expect(text).toContain(`${kind} before;`);
    expect(text).toContain("by the owner;");
    expect(text).not.toContain("after");
    expect(owner.rights).toBe("write");
  });
});
