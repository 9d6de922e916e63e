import { type SessionOptions, startSession } from "../documents/login/sessions.ts";
import { findUser, getOrCreateOwner } from "../documents/users/users.ts";
import type { TestDeps } from "./test-deps.ts";

type Deps = TestDeps["deps"];

/** The host that requests of a test name. */
const HOST = "127.0.0.1";

/** A browser with a session. */
export interface TestBrowser {
  /** Public id of the session. */
  readonly id: string;
  readonly setCookies: readonly string[];
  /** The value of the session cookie. */
  readonly secret: string;
  /** Headers of a request that only reads. */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers of a request that may change something. */
  readonly unsafeHeaders: Readonly<Record<string, string>>;
}

/** Starts a session for the user with this id, or for the owner. */
export async function signIn(
  deps: Deps,
  user: string | undefined,
  options: Partial<SessionOptions> = {},
): Promise<TestBrowser> {
  const found =
    user === undefined ? await getOrCreateOwner(deps, deps.documents.ownerEmail) : await findUser(deps, user);
  if (found === undefined) throw new Error(`user not found: ${user}`);
  const request = { headers: { host: HOST, "user-agent": "test" } };
  const { id, setCookies } = await startSession(deps, found, { request, ...options });
  return { id, setCookies, ...browserHeaders(setCookies) };
}

/** The headers that a browser sends after it received these `Set-Cookie` headers. */
export function browserHeaders(
  setCookies: readonly string[],
): Pick<TestBrowser, "secret" | "headers" | "unsafeHeaders"> {
  const pairs = setCookies.map((cookie) => cookie.split(";", 1)[0] ?? "");
  const cookieValue = (name: string): string =>
    pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? "";
  const cookie = pairs.join("; ");
  const headers = { host: HOST, cookie };
  const csrf = { origin: `http://${HOST}`, "x-csrftoken": cookieValue("csrftoken") };
  return { secret: cookieValue("docs_sessionid"), headers, unsafeHeaders: { ...headers, ...csrf } };
}
