import { expect } from "vitest";
import { type Answer, startWeft, type Weft } from "../../tests/e2e/weft.ts";
import { OWNER_ID } from "../documents/users/users.ts";

/** Somebody who asks the server as themselves. */
export interface Caller {
  readonly id: string;
  readonly name: string;
  readonly token: string;
  ask(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  /** The body of a good answer. */
  // biome-ignore lint/suspicious/noExplicitAny: what comes back is looked into by the test
  good(method: string, path: string, body?: unknown): Promise<any>;
}

/** A document that somebody has to themselves, and one of everything that belongs to it, by ids. */
export interface Owned {
  readonly id: string;
  readonly version: string;
  readonly thread: string;
  readonly comment: string;
  readonly access: string;
  readonly invitation: string;
  readonly request: string;
}

export interface Owners extends AsyncDisposable {
  readonly weft: Weft;
  readonly anna: Caller;
  readonly ben: Caller;
  readonly carol: Caller;
  /** The installation's own. */
  readonly owner: Caller;
  readonly nobody: Caller;
}

export const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** A server with people who have nothing in common. `path` is below `/api/v1.0`, each with its slash. */
export async function startOwners(env: Readonly<Record<string, string>> = {}): Promise<Owners> {
  const weft = await startWeft({ env });
  const as = (name: string, id: string, token: string | null): Caller => {
    const ask: Caller["ask"] = (method, path, body, headers = {}) =>
      weft.call(method, `//api/v1.0${path}`, { token, headers, ...(body === undefined ? {} : { body }) });
    return {
      ...{ id, name, token: token ?? "", ask },
      good: async (method, path, body) => {
        const { status, text, json } = await ask(method, path, body);
        expect([method, path, Math.floor(status / 100), text]).toEqual([method, path, 2, text]);
        return json;
      },
    };
  };
  const owner = as("owner", OWNER_ID, weft.token);
  // Made by their first request.
  await owner.good("GET", "/users/me/");
  const person = async (name: string): Promise<Caller> => {
    const made = await owner.good("POST", "/access-tokens", { email: `${name}@example.com`, name });
    return as(name, made.data.user, made.token);
  };
  return {
    ...{ weft, owner, nobody: as("nobody", "", null) },
    ...{ anna: await person("anna"), ben: await person("ben"), carol: await person("carol") },
    [Symbol.asyncDispose]: () => weft[Symbol.asyncDispose](),
  };
}

/** A document of somebody's, which they share with one and are asked for by another. */
export async function furnish(of: Caller, shared: Caller, asking: Caller): Promise<Owned> {
  const { id } = await of.good("POST", "/documents/", { title: `Of ${of.name}` });
  const at = `/documents/${id}`;
  for (const text of ["first", "second"]) await of.good("PATCH", `${at}/content/`, { content: base64(text) });
  const { versions } = await of.good("GET", `${at}/versions/`);
  const thread = await of.good("POST", `${at}/threads/`, { body: `by ${of.name}` });
  const access = await of.good("POST", `${at}/accesses/`, { user_id: shared.id, role: "reader" });
  const invitation = await of.good("POST", `${at}/invitations/`, {
    email: `guest-of-${of.name}@example.com`,
  });
  await asking.good("POST", `${at}/ask-for-access/`, { role: "reader" });
  const requests = await of.good("GET", `${at}/ask-for-access/`);
  return {
    ...{ id, version: versions[0].version_id, thread: thread.id, comment: thread.comments[0].id },
    ...{ access: access.id, invitation: invitation.id, request: requests.results[0].id },
  };
}
