import type { Installation } from "./test-installation.ts";

/** Requests of the owner to an installation. Rejects if the response is an error. */
export interface Client {
  /** `path` as in the template; a text body is a workflow. */
  send<Body = unknown>(method: string, path: string, body?: unknown): Promise<Body>;
  list<Item>(path: string): Promise<readonly Item[]>;
  /** The same with another token. */
  withToken(token: string): Client;
  /** For responses without content. */
  delete(path: string, body?: unknown): Promise<void>;
  /** Sends a zip. */
  upload(path: string, bytes: Uint8Array): Promise<void>;
  /** Sends a form with a file. */
  form<Body>(path: string, file: File): Promise<Body>;
  /** Reads a whole file from the response; a text body is Markdown. */
  file(method: string, path: string, body?: unknown): Promise<void>;
  /** The status of a GET request, or of POST if there is a body. */
  status(path: string, body?: unknown): Promise<number>;
}

export function createClient({ url, token }: Pick<Installation, "url" | "token">): Client {
  const authorization = `Bearer ${token}`;
  const request = (method: string, path: string, body?: unknown): Promise<Response> => {
    const isText = typeof body === "string";
    return fetch(`${url}${path}`, {
      method,
      headers: {
        authorization,
        ...(body === undefined ? {} : { "content-type": isText ? "application/yaml" : "application/json" }),
      },
      ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
    });
  };
  const send: Client["send"] = async <Body>(method: string, path: string, body?: unknown): Promise<Body> => {
    const answer = await request(method, path, body);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text.slice(0, 500)}`);
    return (text === "" ? undefined : JSON.parse(text)) as Body;
  };
  const fetchRaw = async (
    method: string,
    path: string,
    type: string,
    body?: Buffer | string,
  ): Promise<void> => {
    const headers = { authorization, "content-type": type };
    const answer = await fetch(`${url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text.slice(0, 500)}`);
  };
  return {
    send,
    withToken: (other) => createClient({ url, token: other }),
    delete: (path, body) =>
      fetchRaw("DELETE", path, "application/json", body === undefined ? undefined : JSON.stringify(body)),
    upload: (path, bytes) => fetchRaw("POST", path, "application/zip", Buffer.from(bytes)),
    form: async <Body>(path: string, file: File): Promise<Body> => {
      const body = new FormData();
      body.append("file", file);
      const answer = await fetch(`${url}${path}`, { method: "POST", headers: { authorization }, body });
      if (!answer.ok) throw new Error(`POST ${path} answered ${answer.status}: ${await answer.text()}`);
      return (await answer.json()) as Body;
    },
    file: (method, path, body) =>
      typeof body === "string"
        ? fetchRaw(method, path, "text/markdown", body)
        : fetchRaw(method, path, "application/json", body === undefined ? undefined : JSON.stringify(body)),
    status: async (path, body) => {
      const answer = await request(body === undefined ? "GET" : "POST", path, body);
      // It may be a stream that does not end.
      await answer.body?.cancel();
      return answer.status;
    },
    list: async <Item>(path: string) => (await send<{ data: readonly Item[] }>("GET", path)).data,
  };
}

const FIRST_POLL_MS = 50;
const LAST_POLL_MS = 1_000;
const TIMEOUT_MS = 240_000;

/**
 * Waits until a check returns true. Throws with its description. Checks, some of which run a whole sweep, become rarer:
 * on a busy machine they would delay what they wait for.
 */
export async function waitUntil(what: string | (() => string), check: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + TIMEOUT_MS;
  for (let pause = FIRST_POLL_MS; !(await check()); pause = Math.min(pause * 1.5, LAST_POLL_MS)) {
    if (performance.now() > end)
      throw new Error(`waited ${TIMEOUT_MS} ms for ${typeof what === "string" ? what : what()}`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
