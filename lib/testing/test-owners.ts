import { expect } from "vitest";
import { OWNER_ID } from "../documents/users/users.ts";
import { startTestServer, type TestResponse, type TestServer } from "./test-server.ts";

/** A user with a token, who sends requests. */
export interface Caller {
  readonly id: string;
  readonly name: string;
  readonly token: string;
  request(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<TestResponse>;
  /** The body of a successful response. */
  // biome-ignore lint/suspicious/noExplicitAny: what comes back is looked into by the test
  send(method: string, path: string, body?: unknown): Promise<any>;
}

/** Ids of a document of one owner, and of one record of each kind that belongs to it. */
export interface OwnedRecords {
  readonly id: string;
  readonly version: string;
  readonly thread: string;
  readonly comment: string;
  readonly access: string;
  readonly invitation: string;
  readonly request: string;
}

export interface Owners extends AsyncDisposable {
  readonly server: TestServer;
  readonly anna: Caller;
  readonly ben: Caller;
  readonly carol: Caller;
  /** The owner of the installation. */
  readonly owner: Caller;
  readonly anonymous: Caller;
}

export const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** A server with users who share nothing. `path` is relative to `/api/v1.0` and begins with a slash. */
export async function startOwners(env: Readonly<Record<string, string>> = {}): Promise<Owners> {
  const weft = await startTestServer({ env });
  const as = (name: string, id: string, token: string | null): Caller => {
    const ask: Caller["request"] = (method, path, body, headers = {}) =>
      weft.call(method, `//api/v1.0${path}`, { token, headers, ...(body === undefined ? {} : { body }) });
    return {
      id,
      name,
      token: token ?? "",
      request: ask,
      send: async (method, path, body) => {
        const { status, text, json } = await ask(method, path, body);
        expect([method, path, Math.floor(status / 100), text]).toEqual([method, path, 2, text]);
        return json;
      },
    };
  };
  const owner = as("owner", OWNER_ID, weft.token);
  // The first request creates the user.
  await owner.send("GET", "/users/me/");
  const person = async (name: string): Promise<Caller> => {
    const made = await owner.send("POST", "/access-tokens", { email: `${name}@example.com`, name });
    return as(name, made.data.user, made.token);
  };
  return {
    server: weft,
    owner,
    anonymous: as("nobody", "", null),
    anna: await person("anna"),
    ben: await person("ben"),
    carol: await person("carol"),
    [Symbol.asyncDispose]: () => weft[Symbol.asyncDispose](),
  };
}

/** Creates a document that is shared with one user, and to which another one requests access. */
export async function createOwnedRecords(of: Caller, shared: Caller, asking: Caller): Promise<OwnedRecords> {
  const { id } = await of.send("POST", "/documents/", { title: `Of ${of.name}` });
  const at = `/documents/${id}`;
  for (const text of ["first", "second"]) await of.send("PATCH", `${at}/content/`, { content: base64(text) });
  const { versions } = await of.send("GET", `${at}/versions/`);
  const thread = await of.send("POST", `${at}/threads/`, { body: `by ${of.name}` });
  const access = await of.send("POST", `${at}/accesses/`, { user_id: shared.id, role: "reader" });
  const invitation = await of.send("POST", `${at}/invitations/`, {
    email: `guest-of-${of.name}@example.com`,
  });
  await asking.send("POST", `${at}/ask-for-access/`, { role: "reader" });
  const requests = await of.send("GET", `${at}/ask-for-access/`);
  return {
    id,
    version: versions[0].version_id,
    thread: thread.id,
    comment: thread.comments[0].id,
    access: access.id,
    invitation: invitation.id,
    request: requests.results[0].id,
  };
}
