import { afterAll, beforeAll, expect, it } from "vitest";
import { accessTokensTable, TOKEN_ENTRIES, tokenEntriesTable } from "#lib/documents/tables/users.ts";
import { createToken } from "#lib/documents/users/tokens.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { route as me } from "./me.ts";

let test: TestDeps;
let token: string;
beforeAll(async () => {
  test = await testDeps();
  ({ token } = await createToken(test.deps, { email: "ada@example.com" }));
});
afterAll(() => test.close());

const other = (letter: string): string => (letter === "a" ? "b" : "a");

it.each([
  ["the installation's", () => TEST_TOKEN],
  ["a user's", () => token],
])("of %s token no part, no longer one and no other opens anything", async (_, own) => {
  const whole = own();
  expect((await call(test.deps, me, { token: whole })).status).toBe(200);
  const guesses = [
    ...Array.from(whole, (_letter, at) => whole.slice(0, at)),
    ...Array.from(whole, (letter, at) => `${whole.slice(0, at)}${other(letter)}${whole.slice(at + 1)}`),
    `${whole}x`,
    `${whole}${whole}`,
    `x${whole}`,
    whole.toUpperCase(),
    [...whole].reverse().join(""),
    `${whole}\u0000`,
    `${whole}=`,
    "undefined",
    "null",
    "owner",
    "*",
    "%",
    "' OR 1=1--",
    "x".repeat(8_000),
  ];
  for (const guess of guesses) {
    const { status } = await call(test.deps, me, { token: guess });
    expect([guess, status]).toEqual([guess, 401]);
  }
});

it("neither the stored hash nor the name of a token authorizes requests", async () => {
  const { items } = await test.deps.tables.query(tokenEntriesTable, { pk: TOKEN_ENTRIES });
  const stored = await test.deps.tables.get(accessTokensTable, { pk: items[0]!.hash, sk: "token" });
  const parts = [...items.flatMap(({ sk, hash }) => [sk, hash]), ...Object.values(stored ?? {})].map(String);
  expect(parts.length).toBeGreaterThan(2);
  expect(JSON.stringify([items, stored])).not.toContain(token.slice("weft_".length));
  for (const part of parts)
    for (const guess of [part, `weft_${part}`])
      expect((await call(test.deps, me, { token: guess })).status).toBe(401);
});
