import { afterEach, beforeEach, expect, it } from "vitest";
import { createDocument } from "#lib/documents/records/create.ts";
import { ticketsTable } from "#lib/documents/tables/collaboration-tickets.ts";
import { createToken, revokeToken } from "#lib/documents/users/tokens.ts";
import { getOrCreateOwner } from "#lib/documents/users/users.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { handler as checkAccess } from "./check-access.ts";
import { handler as issueTicket } from "./issue-ticket.ts";
import { handler as redeemTicket } from "./redeem-ticket.ts";

const KEY = "a-provider-key-for-tests";

let test: TestDeps;
let document: string;
beforeEach(async () => {
  test = await testDeps({ settings: { Y_PROVIDER_API_KEY: KEY } });
  const owner = await getOrCreateOwner(test.deps, "owner@weft.local");
  document = (await createDocument(test.deps, owner, { title: "Notes" })).document.id;
});
afterEach(() => test.close());

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function call(
  handler: typeof issueTicket,
  token: string | undefined,
  { id, body }: { readonly id?: string; readonly body?: unknown },
): Promise<Answer> {
  const { statusCode, body: text } = await handler(
    {
      httpMethod: "POST",
      path: "/",
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      pathParameters: id === undefined ? null : { id },
      queryStringParameters: null,
      body: body === undefined ? null : JSON.stringify(body),
      isBase64Encoded: false,
    },
    { weft: test.deps },
  );
  return { status: statusCode, body: JSON.parse(text) as Record<string, unknown> };
}

const issue = (token: string | undefined = TEST_TOKEN) => call(issueTicket, token, { id: document });
const redeem = (ticket: unknown, of = document) =>
  call(redeemTicket, KEY, { body: { document: of, ticket } });

it("a ticket is issued with the generation of the content, and stored as a hash", async () => {
  const { status, body } = await issue();
  expect(status).toBe(201);
  expect(body).toEqual({
    ticket: expect.stringMatching(/^weft-ticket_[\w-]{43}$/) as string,
    generation: 0,
    expires_at: new Date(test.clock.now() + 60_000).toISOString(),
  });
  const { items } = await test.deps.tables.scan(ticketsTable, { limit: 10 });
  expect(items).toHaveLength(1);
  expect(JSON.stringify(items)).not.toContain(body.ticket);
});

it("a ticket is redeemed once, before it expires, and for its document", async () => {
  const { ticket } = (await issue()).body;
  expect((await redeem(ticket, crypto.randomUUID())).status).toBe(404);
  const first = await redeem(ticket);
  expect(first).toMatchObject({ status: 200, body: { abilities: { retrieve: true, update: true } } });
  expect((await redeem(ticket)).status).toBe(404);
  const late = (await issue()).body.ticket;
  test.clock.advance(60_000);
  expect((await redeem(late)).status).toBe(404);
  const other = (await issue()).body.ticket;
  const outcomes = await Promise.all([redeem(other), redeem(other), redeem(other)]);
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual([200, 404, 404]);
});

it("access ends with the token that the ticket was issued for", async () => {
  const { token, record } = await createToken(test.deps, { email: "owner@weft.local" });
  const { body } = await redeem((await issue(token)).body.ticket);
  const asked = {
    document,
    user: (body.user as { id: string }).id,
    credential: body.credential,
  };
  const check = () => call(checkAccess, KEY, { body: asked });
  expect((await check()).body).toEqual({ abilities: { retrieve: true, update: true } });
  await revokeToken(test.deps, record.id);
  expect((await check()).body).toEqual({ abilities: { retrieve: false, update: false } });
});

it("no access is reported for users and documents that do not exist", async () => {
  const check = (body: object) => call(checkAccess, KEY, { body: { credential: null, ...body } });
  const nothing = { abilities: { retrieve: false, update: false } };
  expect((await check({ document, user: null })).body).toEqual(nothing);
  expect((await check({ document, user: crypto.randomUUID() })).body).toEqual(nothing);
  expect((await check({ document: crypto.randomUUID(), user: null })).body).toEqual(nothing);
});

it("callers need access to the document, or the key of the collaboration server", async () => {
  expect((await issue("")).status).toBe(401);
  expect((await call(issueTicket, KEY, { id: document })).status).toBe(403);
  for (const handler of [redeemTicket, checkAccess]) {
    expect((await call(handler, TEST_TOKEN, { body: {} })).status).toBe(403);
    expect((await call(handler, undefined, { body: {} })).status).toBe(401);
    expect((await call(handler, KEY, { body: {} })).status).toBe(400);
  }
});

it("expired tickets are deleted", async () => {
  for (let issued = 0; issued < 40; issued += 1) await issue();
  test.clock.advance(120_000);
  for (let issued = 0; issued < 100; issued += 1) await issue();
  const { items } = await test.deps.tables.scan(ticketsTable, { limit: 1_000 });
  expect(items.length).toBeLessThan(120);
});
