import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkRedirectTarget } from "./redirect-target.ts";

const OWN = new URL("https://docs.example.org/api/v1.0/callback/");
const RULES = { redirectHosts: ["app.example.org", "localhost:3000"], requiresHttps: false };
const ORIGINS = ["https://docs.example.org", "https://app.example.org", "http://app.example.org"];
const PARTS = [
  ..."/\\.:@#?%&=;~|^`'\"<>[]{} \t\r\n\0\u00a0\u2028\ufeff\u3002\uff0f",
  "//",
  "/../",
  "/./",
  "%2e",
  "%2f",
  "%5c",
  "%00",
  "https:",
  "HTTP:",
  "https://",
  "javascript:",
  "data:",
  "evil.example",
  "docs.example.org",
  "app.example.org",
  "x",
];
const targets = fc
  .tuple(fc.constantFrom("", "/"), fc.array(fc.constantFrom(...PARTS), { minLength: 1, maxLength: 7 }))
  .map(([start, parts]) => start + parts.join(""));
const NUM_RUNS = 20_000;

const check = (target: string): string | undefined => {
  try {
    return checkRedirectTarget(RULES, OWN, target);
  } catch {
    return undefined;
  }
};

describe("the target of a login", () => {
  it("is on an allowed host however it is spelled, also when a browser resolves it", () => {
    let accepted = 0;
    fc.assert(
      fc.property(targets, (target) => {
        const location = check(target);
        if (location === undefined) return;
        accepted += 1;
        const [sent, given] = [new URL(location, OWN), new URL(target, OWN)];
        for (const { origin, username } of [sent, given])
          expect([ORIGINS.includes(origin), username]).toEqual([true, ""]);
        // What is checked is what is sent.
        const [one, other] = [sent, given].map(({ origin, pathname, search, hash }) => [
          origin,
          pathname,
          search,
          hash,
        ]);
        expect(one).toEqual(other);
      }),
      { numRuns: NUM_RUNS },
    );
    expect(accepted).toBeGreaterThan(500);
  });

  it.each([
    "/",
    "/a/b?c=d#e",
    "https://app.example.org",
    "http://LOCALHOST:3000/x",
    "https://docs.example.org:443/x",
  ])("may be %s", (target) => {
    expect(new URL(check(target) ?? "x:", OWN).href).toBe(new URL(target, OWN).href);
  });
});
