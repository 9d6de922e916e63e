import { expect, test } from "vitest";
import { CookieBrowser } from "../../lib/testing/test-cookie-browser.ts";
import { ADA } from "../../lib/testing/test-oidc-login.ts";
import { startTestOidcProvider } from "../../lib/testing/test-oidc-provider.ts";
import { newStack, startAwsServer } from "./test-aws.ts";

test("a login at a provider is finished once by whichever server, and a logout token ends its session", async () => {
  await using provider = await startTestOidcProvider();
  provider.signIn(ADA);
  const stack = newStack();
  const settings = { ...provider.settings, LOGIN_REDIRECT_URL: "/in", LOGIN_REDIRECT_URL_FAILURE: "/failed" };
  await using first = await startAwsServer(stack, undefined, settings);
  // Both servers are at one public address, like behind a load balancer.
  await using second = await startAwsServer(stack, undefined, { ...settings, PUBLIC_URL: first.url });
  provider.register(first.url);
  const browser = new CookieBrowser();
  const { location } = await browser.visit(
    `${first.url}/api/v1.0/authenticate/`,
    (visited) => visited.location?.pathname === "/api/v1.0/callback/",
  );
  const callbacks = [first, second, second].map(({ url }) =>
    browser.request(new URL(`${location?.pathname}${location?.search}`, url)),
  );
  const targets = (await Promise.all(callbacks)).map((visited) => visited.location?.pathname);
  expect(targets.toSorted()).toEqual(["/failed", "/failed", "/in"]);

  const me = async () => {
    const { status, text } = await browser.request(`${second.url}/api/v1.0/users/me/`);
    return { status, email: (JSON.parse(text) as { email?: string }).email };
  };
  expect(await me()).toEqual({ status: 200, email: ADA.email });

  const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
  const token = await provider.sign({ sub: ADA.sub, jti: "1", events }, { typ: "logout+jwt" });
  const body = new URLSearchParams({ logout_token: token });
  const end = async (url: string): Promise<number> =>
    (await fetch(`${url}/api/v1.0/backchannel-logout/`, { method: "POST", body })).status;
  expect([await end(second.url), await end(first.url)]).toEqual([200, 400]);
  expect((await me()).status).toBe(401);
}, 240_000);
