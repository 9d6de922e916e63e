import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { accessTokensTable, userIdentitiesTable, usersTable } from "../tables/users.ts";
import { toUser } from "./record.ts";
import { createToken, listTokens, revokeToken } from "./tokens.ts";
import { getOrCreateOwner, OWNER_ID, planUser, userBySub, usersByEmail } from "./users.ts";
import { verifyToken } from "./verify-token.ts";

let test: TestDeps;

beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

describe("a token", () => {
  it("authorizes its scope for its user, and only its hash is stored", async () => {
    const { token, record } = await createToken(test.deps, { email: "Ada@example.com", name: "Ada" });
    const [user] = await usersByEmail(test.deps, "ada@EXAMPLE.com");
    expect(await verifyToken(test.deps, token)).toEqual({
      id: user?.id,
      scopes: ["automation", "documents"],
      credential: { id: `token:${record.id}`, expiresAt: undefined },
    });
    expect(record).toMatchObject({ user: user?.id, name: "Ada", email: "Ada@example.com" });
    const again = await createToken(test.deps, { email: "ada@example.com", scopes: ["documents"] });
    expect(await verifyToken(test.deps, again.token)).toEqual({
      id: user?.id,
      scopes: ["documents"],
      credential: { id: `token:${again.record.id}`, expiresAt: undefined },
    });
    const kept = JSON.stringify([await listTokens(test.deps), await accessItems()]);
    expect(kept).not.toContain(token.slice("weft_".length));
  });

  it("is rejected if it is of another kind, expired or revoked, or if its user is inactive", async () => {
    const expires_at = new Date(test.clock.now() + 60_000).toISOString();
    const { token, record } = await createToken(test.deps, { email: "a@example.com", expires_at });
    for (const wrong of [
      "",
      "weft_",
      `${token}x`,
      token.slice(0, -1),
      token.toUpperCase(),
      "x".repeat(4_000),
    ])
      expect(await verifyToken(test.deps, wrong)).toBeUndefined();
    expect(await verifyToken(test.deps, token)).toBeDefined();
    test.clock.advance(60_000);
    expect(await verifyToken(test.deps, token)).toBeUndefined();
    const lasting = await createToken(test.deps, { email: "a@example.com" });
    const key = { pk: record.user, sk: "user" };
    await test.deps.tables.update(usersTable, key, { set: { is_active: false } });
    expect(await verifyToken(test.deps, lasting.token)).toBeUndefined();
    await test.deps.tables.update(usersTable, key, { set: { is_active: true } });
    await revokeToken(test.deps, lasting.record.id);
    expect(await verifyToken(test.deps, lasting.token)).toBeUndefined();
    await expect(revokeToken(test.deps, lasting.record.id)).rejects.toMatchObject({ code: "not_found" });
    expect((await listTokens(test.deps)).map(({ id }) => id)).toEqual([record.id]);
  });

  it("is not created for an ambiguous user", async () => {
    for (const sub of ["one", "two"]) {
      const { writes } = planUser(test.deps, { sub, email: "twice@example.com" });
      await test.deps.tables.write(writes);
    }
    await expect(createToken(test.deps, { email: "twice@example.com" })).rejects.toMatchObject({
      code: "conflict",
    });
  });
});

async function accessItems(): Promise<unknown> {
  const [first] = await listTokens(test.deps);
  return test.deps.tables.query(accessTokensTable, { pk: first?.id ?? "" });
}

describe("users", () => {
  it("have unique names of an identity provider, and may share addresses", async () => {
    const { user, writes } = planUser(test.deps, { sub: "s-1", email: "a@example.com" });
    expect(await test.deps.tables.write(writes)).toEqual({ ok: true });
    const second = planUser(test.deps, { sub: "s-1", email: "b@example.com" });
    expect((await test.deps.tables.write(second.writes)).ok).toBe(false);
    expect((await userBySub(test.deps, "s-1"))?.id).toBe(user.id);
    const { items } = await test.deps.tables.query(userIdentitiesTable, { pk: "email:b@example.com" });
    expect(items).toEqual([]);
  });

  it("without a name are called by the local part of their address", async () => {
    const { user } = planUser(test.deps, { email: "Ada.Lovelace+x@example.com" });
    expect(toUser(user)).toMatchObject({ full_name: "ada-lovelace-x", short_name: "ada-lovelace-x" });
    expect(toUser({ ...user, full_name: "Ada L.", email: null })).toMatchObject({
      full_name: "Ada L.",
      short_name: "",
    });
  });

  it("include an owner, who is created once", async () => {
    const all = await Promise.all(
      Array.from({ length: 8 }, () => getOrCreateOwner(test.deps, "owner@example.com")),
    );
    expect(new Set(all.map(({ id }) => id))).toEqual(new Set([OWNER_ID]));
    expect(await usersByEmail(test.deps, "owner@example.com")).toHaveLength(1);
  });
});
