import { CookieBrowser, type Visited } from "./test-cookie-browser.ts";
import { type TestClock, type TestDeps, testClock, testDeps } from "./test-deps.ts";
import { type TestGateway, testGateway } from "./test-gateway.ts";
import { startTestOidcProvider, type TestOidcProvider } from "./test-oidc-provider.ts";

/** A person with a verified address. */
export const ADA = {
  sub: "ada-1",
  email: "ada@example.com",
  email_verified: true,
  first_name: "Ada",
  last_name: "Lovelace",
};

/** Weft with a provider at which Ada signs in, and a browser. */
export interface OidcLoginTest extends AsyncDisposable {
  readonly clock: TestClock;
  readonly provider: TestOidcProvider;
  readonly test: TestDeps;
  readonly gateway: TestGateway;
  readonly browser: CookieBrowser;
  /** The URL of an endpoint. */
  at(path: string): string;
  /** Begins a login: returns the authorization request. */
  begin(query?: string, by?: CookieBrowser): Promise<URL>;
  /** Begins a login and signs in at the provider: returns the URL with the code, before the browser requests it. */
  approve(query?: string, by?: CookieBrowser): Promise<URL>;
  /** Signs in: returns where the browser is sent in the end. A path is one of Weft. */
  logIn(query?: string, by?: CookieBrowser): Promise<string>;
  /** Where a redirect leads. */
  targetOf(visited: Visited): string;
  /** The response to GET users/me/. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects
  me(by?: CookieBrowser): Promise<{ readonly status: number; readonly body: any }>;
  /** Why logins failed, as the log says. */
  reasons(): string[];
}

/** Paths to which a failed login and a logout lead. */
export const FAILED = "/failed";
export const LOGGED_OUT = "/bye";

export async function openOidcLogin(settings: Readonly<Record<string, string>> = {}): Promise<OidcLoginTest> {
  const clock = testClock(Date.now());
  const provider = await startTestOidcProvider();
  const own = { LOGIN_REDIRECT_URL_FAILURE: FAILED, LOGOUT_REDIRECT_URL: LOGGED_OUT };
  const test = await testDeps({ clock, settings: { ...provider.settings, ...own, ...settings } });
  const gateway = await testGateway(test);
  provider.register(gateway.url);
  provider.signIn(ADA);
  const browser = new CookieBrowser();
  const at = (path: string): string => `${gateway.url}/api/v1.0${path}`;
  const redirectOf = ({ location, status, text }: Visited): URL => {
    if (location === undefined) throw new Error(`the response is no redirect: ${status} ${text}`);
    return location;
  };
  const targetOf = (visited: Visited): string => {
    const target = redirectOf(visited);
    return target.origin === gateway.url ? `${target.pathname}${target.search}${target.hash}` : target.href;
  };
  const isCallback = ({ location }: Visited): boolean => location?.href.startsWith(at("/callback/")) === true;
  const approve = async (query = "", by = browser): Promise<URL> =>
    redirectOf(await by.visit(at(`/authenticate/${query}`), isCallback));
  return {
    clock,
    provider,
    test,
    gateway,
    browser,
    at,
    targetOf,
    approve,
    begin: async (query = "", by = browser) => redirectOf(await by.request(at(`/authenticate/${query}`))),
    logIn: async (query, by = browser) => targetOf(await by.request(await approve(query, by))),
    me: async (by = browser) => {
      const { status, text } = await by.request(at("/users/me/"));
      return { status, body: JSON.parse(text) };
    },
    reasons: () =>
      test.logs.flatMap(({ message, fields }) =>
        message === "a login failed" ? [String(fields.reason)] : [],
      ),
    [Symbol.asyncDispose]: async () => {
      await gateway.close();
      await test.close();
      await provider[Symbol.asyncDispose]();
    },
  };
}
