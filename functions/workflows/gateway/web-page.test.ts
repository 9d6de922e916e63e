import { afterEach, beforeEach, expect, it } from "vitest";
import { WEB_PAGE_BLOB } from "#lib/http/web-page.ts";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-handler-call.ts";
import { handler } from "./web-page.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const get = () => call(test.deps, handler, { method: "GET", path: "/automation/web-page", token: null });

it("returns the uploaded page with a new nonce each time, which its policy names", async () => {
  await test.deps.blobs.put(WEB_PAGE_BLOB, '<meta content="%NONCE%"><p>%NONCE%</p>');
  const pages = [await get(), await get()];
  const nonces = pages.map(({ status, headers, text }) => {
    expect([status, headers["content-type"], headers["cache-control"]]).toEqual([
      200,
      "text/html; charset=utf-8",
      "no-store",
    ]);
    const [, nonce = ""] = /^<meta content="([A-Za-z0-9+/=]{24})"><p>\1<\/p>$/.exec(text) ?? [];
    expect(headers["content-security-policy"]).toContain(`style-src 'self' 'nonce-${nonce}'`);
    expect(headers["content-security-policy"]).toContain("script-src 'self';");
    return nonce;
  });
  expect(new Set(nonces).size).toBe(2);
});

it("lets the page connect to a collaboration server at another host", async () => {
  await test.close();
  test = await testDeps({ settings: { COLLABORATION_WS_URL: "wss://live.example.org/collaboration/ws/" } });
  await test.deps.blobs.put(WEB_PAGE_BLOB, "<p></p>");
  expect((await get()).headers["content-security-policy"]).toContain(
    "connect-src 'self' wss://live.example.org;",
  );
});

it("says how to upload the page if there is none", async () => {
  const { status, json } = await get();
  expect([status, json.message]).toEqual([404, expect.stringContaining("npm run web:upload")]);
});
