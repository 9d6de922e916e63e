import { afterEach, expect, it } from "vitest";
import { accessesTable, relationKey, relationsTable } from "#lib/documents/tables/accesses.ts";
import { documentKey, documentsTable } from "#lib/documents/tables/documents.ts";
import { createToken } from "#lib/documents/users/tokens.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { route as make } from "../documents/create.ts";
import { route as share } from "./create.ts";
import { route as remove } from "./delete.ts";
import { route as update } from "./update.ts";

let test: TestDeps | undefined;
afterEach(() => test?.close());

const ROLES = ["reader", "editor", "administrator", "owner"] as const;

/** A small random number generator, deterministic for a seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (state >> 8) % below;
  };
}

it.each([1, 2, 3])(
  "what many change at the same time adds up, and leaves an owner (seed %i)",
  async (seed) => {
    test = await testDeps();
    const { deps } = test;
    const next = numbers(seed);
    const root = (await call(deps, make, { body: {}, token: TEST_TOKEN })).body.id as string;
    const people: { id: string; token: string }[] = [];
    for (const name of ["a", "b", "c", "d"]) {
      const { token, record } = await createToken(deps, { email: `${name}@example.com` });
      people.push({ id: record.user, token });
    }
    const tokens = [TEST_TOKEN, ...people.map(({ token }) => token)];
    const rowsNow = async () => (await deps.tables.query(accessesTable, { pk: root })).items;
    const one = async (): Promise<number> => {
      const token = tokens[next(tokens.length)]!;
      const role = ROLES[next(ROLES.length)]!;
      const rows = await rowsNow();
      const params = { id: root, accessId: rows[next(rows.length)]!.id };
      const ways = [
        () => call(deps, share, { params, body: { user_id: people[next(people.length)]!.id, role }, token }),
        () => call(deps, update, { params, body: { role }, token }),
        () => call(deps, remove, { params, token }),
      ];
      return (await ways[next(ways.length)]!()).status;
    };
    const statuses = new Set<number>();
    for (let round = 0; round < 12; round += 1)
      for (const status of await Promise.all(Array.from({ length: 6 }, one))) statuses.add(status);
    expect([...statuses].filter((status) => status >= 500 || status === 409)).toEqual([]);
    expect(statuses).toContain(201);

    const rows = await rowsNow();
    const document = await deps.tables.get(documentsTable, documentKey(root));
    const owners = rows.filter(({ role }) => role === "owner").length;
    expect([document?.accesses, document?.owners]).toEqual([rows.length, owners]);
    expect(owners).toBeGreaterThan(0);
    for (const { id } of people) {
      const relation = await deps.tables.get(relationsTable, relationKey(id, root));
      const row = rows.find(({ user }) => user === id);
      expect([relation?.role, relation?.since]).toEqual([row?.role, row?.created_at]);
    }
  },
);
