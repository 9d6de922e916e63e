import type { DocumentDeps } from "../../lib/app/compose.ts";
import { type StoredSession, sessionsTable } from "../../lib/documents/tables/sessions.ts";
import { CookieBrowser } from "../../lib/testing/test-cookie-browser.ts";
import { ADA } from "../../lib/testing/test-oidc-login.ts";
import type { TestOidcProvider } from "../../lib/testing/test-oidc-provider.ts";
import type { Client } from "./test-tour-client.ts";
import { TOUR_EMAIL } from "./test-tour-documents.ts";

const BASE = "/api/v1.0";
const DAY_MS = 24 * 60 * 60_000;

interface LoginTour {
  readonly url: string;
  readonly client: Client;
  readonly outside: DocumentDeps;
  readonly provider: TestOidcProvider;
}

/** Logins by link and at a provider, sessions, and every way to log out. */
export async function tourLogins({ url, client, outside, provider }: LoginTour): Promise<void> {
  const owner = new CookieBrowser();
  const expired = await createLink(client, {});
  await moveBack(outside);
  await owner.request(await createLink(client, {}));
  await owner.request(expired);
  // The use of a session is recorded after a minute.
  for (const path of ["/automation/event-logs", `${BASE}/users/me/`]) {
    await moveSessionsBack(outside, 2 * 60_000);
    expectStatus(await owner.request(`${url}${path}`), 200);
  }
  const ada = new CookieBrowser();
  const page = await createLink(client, { email: TOUR_EMAIL });
  await ada.request(page);
  const token = new URL(page).searchParams.get("token") ?? "";
  const body = new URLSearchParams({ token });
  expectStatus(await ada.request(`${url}/login`, { method: "POST", body, headers: { origin: url } }), 303);
  const again = new CookieBrowser();
  await again.request(await createLink(client, {}));
  const sessions = JSON.parse((await owner.request(`${url}${BASE}/users/me/sessions/`)).text) as readonly {
    id: string;
    is_current: boolean;
  }[];
  const csrf = { origin: url, "x-csrftoken": owner.cookie(url, "csrftoken") ?? "" };
  const other = sessions.find((one) => !one.is_current);
  await owner.request(`${url}${BASE}/users/me/sessions/${other?.id}/`, { method: "DELETE", headers: csrf });
  await owner.request(`${url}${BASE}/users/me/sessions/`, { method: "DELETE", headers: csrf });
  await owner.request(`${url}${BASE}/logout/`, { method: "POST", headers: { origin: url } });
  await tourProvider(url, outside, provider);
}

async function tourProvider(url: string, outside: DocumentDeps, provider: TestOidcProvider): Promise<void> {
  provider.signIn(ADA);
  provider.register(url);
  const browser = new CookieBrowser();
  const logIn = () =>
    browser.visit(`${url}${BASE}/authenticate/`, ({ location }) => location?.pathname === "/in");
  await logIn();
  await moveSessionsBack(outside, 400 * DAY_MS);
  // This deletes the ended session.
  await logIn();
  await browser.visit(`${url}${BASE}/logout/`, ({ location }) => location?.origin === provider.issuer);
  await browser.request(`${url}${BASE}/logout-callback/?state=unknown`);
  await logIn();
  const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
  const token = await provider.sign({ sub: ADA.sub, jti: "tour", events }, { typ: "logout+jwt" });
  const body = new URLSearchParams({ logout_token: token });
  await fetch(`${url}${BASE}/backchannel-logout/`, { method: "POST", body });
  await fetch(`${url}/external_api/v1.0/documents/`);
}

const createLink = async (client: Client, body: object): Promise<string> =>
  (
    await client.send<{ url: string }>("POST", `${BASE}/login-links`, {
      scopes: ["automation", "documents"],
      ...body,
    })
  ).url;

/** Makes the links that exist expire: later ones delete them. */
async function moveBack({ tables }: DocumentDeps): Promise<void> {
  const { loginLinksTable, LOGIN_LINKS } = await import("../../lib/documents/tables/login-links.ts");
  const { items } = await tables.query(loginLinksTable, { pk: LOGIN_LINKS });
  for (const { pk, sk } of items)
    await tables.update(loginLinksTable, { pk, sk }, { set: { expires_at: "2000-01-01T00:00:00.000Z" } });
}

async function moveSessionsBack({ tables, clock }: DocumentDeps, ms: number): Promise<void> {
  const at = new Date(clock.now() - ms).toISOString();
  const { items } = await tables.scan(sessionsTable, { limit: 100 });
  for (const { pk, sk } of items as StoredSession[])
    if (sk === "session")
      await tables.update(
        sessionsTable,
        { pk, sk },
        { set: ms > DAY_MS ? { expires_at: at } : { last_used_at: at } },
      );
}

function expectStatus(
  { url, status, text }: { url: string; status: number; text: string },
  expected: number,
): void {
  if (status !== expected) throw new Error(`${url} answered ${status}: ${text.slice(0, 300)}`);
}
