import { afterEach, beforeEach, expect, test } from "vitest";
import type { Handler } from "#lib/http/handler.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { invokeHandler } from "#lib/testing/test-handler-call.ts";
import { requestOf } from "#lib/testing/test-requests.ts";
import { handler as createForOwner } from "../../documents/documents/create-for-owner.ts";
import { handler as list } from "../event-logs/list.ts";

let world: TestDeps;
beforeEach(async () => {
  world = await testDeps({ settings: { FAILED_AUTHENTICATION_THROTTLE_RATE: "3/minute" } });
});
afterEach(() => world.close());

const ask = async (token: string | null, sourceIp: string, handler: Handler = list) => {
  const event = { ...requestOf("GET", "/x", { token }), requestContext: { identity: { sourceIp } } };
  const { statusCode, headers } = await invokeHandler(handler, event, { weft: world.deps });
  return { statusCode, retryAfter: headers["retry-after"] };
};
const statuses = async (count: number, token: string | null, sourceIp: string, handler?: Handler) => {
  const all: number[] = [];
  for (let index = 0; index < count; index += 1)
    all.push((await ask(token === null ? null : `${token}${index}`, sourceIp, handler)).statusCode);
  return all;
};

test("limits invalid tokens per address, with a Retry-After", async () => {
  expect(await statuses(5, "wrong-", "192.0.2.1")).toEqual([401, 401, 401, 429, 429]);
  expect((await ask("wrong", "192.0.2.1")).retryAfter).toBe("60");
  expect(await statuses(1, "wrong-", "192.0.2.2")).toEqual([401]);
  world.clock.advance(61_000);
  expect(await statuses(1, "wrong-", "192.0.2.1")).toEqual([401]);
});

test("accepts a valid token from an address that sends invalid ones, and does not count it", async () => {
  await statuses(5, "wrong-", "192.0.2.1");
  for (let index = 0; index < 5; index += 1)
    expect((await ask(TEST_TOKEN, "192.0.2.1")).statusCode).toBe(200);
});

test("does not count requests without a token", async () => {
  expect(await statuses(5, null, "192.0.2.1")).toEqual([401, 401, 401, 401, 401]);
});

test("counts an IPv6 network as one address, and both forms of an IPv4 address", async () => {
  expect(await statuses(2, "wrong-", "2001:db8:0:1::5")).toEqual([401, 401]);
  expect(await statuses(2, "wrong-", "2001:db8::1:a:b:c:d")).toEqual([401, 429]);
  expect(await statuses(1, "wrong-", "2001:db8:0:2::5")).toEqual([401]);
  expect(await statuses(2, "wrong-", "::ffff:192.0.2.9")).toEqual([401, 401]);
  expect(await statuses(2, "wrong-", "192.0.2.9")).toEqual([401, 429]);
});

test("also limits server tokens", async () => {
  expect(await statuses(4, "wrong-", "192.0.2.1", createForOwner)).toEqual([401, 401, 401, 429]);
});

test("applies the same limit to authentication by headers", async () => {
  const event = () => ({
    ...requestOf("GET", "/x", { token: "wrong" }),
    requestContext: { identity: { sourceIp: "192.0.2.1" } },
  });
  const refusals: (number | undefined)[] = [];
  for (let index = 0; index < 4; index += 1)
    refusals.push((await list.authenticate?.(event(), { weft: world.deps }))?.refusal?.statusCode);
  expect(refusals).toEqual([401, 401, 401, 429]);
});
