import { describe, expect, it } from "vitest";
import { PRODUCT_VERSION } from "../product-version.ts";
import { planUpgrade } from "./plan.ts";
import { RELEASES, releaseOf, toVersion, UpgradeError } from "./releases.ts";

const names = (from: string, to: string) => planUpgrade(from, to).steps.map(({ release }) => release);

describe("RELEASES", () => {
  it("contains every minor of every major, in order and without gaps", () => {
    const parts = RELEASES.map(({ name }) => name.split(".").map(Number) as [number, number]);
    expect(parts.at(0)).toEqual([1, 0]);
    for (const [at, [major, minor]] of parts.slice(1).entries()) {
      const [before, last] = parts[at] ?? [0, 0];
      expect([
        [before, last + 1],
        [before + 1, 0],
      ]).toContainEqual([major, minor]);
    }
  });

  it("contains the changes that the contract requires of a release", () => {
    const asks = (name: string) => RELEASES.find((each) => each.name === name)?.actions.join(" ") ?? "";
    expect(asks("2.2")).toContain("AI_ALLOW_REACH_FROM=public");
    expect(asks("3.0")).toContain("COLLABORATION_BACKEND_BASE_URL");
    expect(asks("3.3")).toContain("PUBLISH_AS_MIT=true");
    expect(asks("4.0")).toContain("header.icon");
    expect(asks("4.6")).toContain("theme file");
    for (const word of [
      "formatted-content",
      "descendants",
      "3.0.0",
      "PRIMARY_SDK_API_KEY",
      "PRIMARY_SDK_BASE_URL",
    ])
      expect(asks("5.0")).toContain(word);
  });

  it("contains the release of this product", () => {
    expect(toVersion(releaseOf(PRODUCT_VERSION)).name).toBe("5.0");
    expect(() => releaseOf("99.0.0")).toThrow("99.0.0 is missing from PRODUCT_RELEASES");
  });
});

describe("planUpgrade", () => {
  it("includes every minor and major in between, from any fix release", () => {
    expect(names("2.1.4", "3.1.0")).toEqual(["2.2.0", "2.3.0", "2.4.0", "2.5.0", "2.6.0", "3.0.0", "3.1.0"]);
    expect(names("2.1.4", "5.0.0")).toHaveLength(26);
    expect(names("v4.8", "5.0.2")).toEqual(["5.0.2"]);
  });

  it("has one step for a fix release, and none to the same release", () => {
    expect(names("5.0.0", "5.0.2")).toEqual(["5.0.2"]);
    expect(names("5.0.0", "5.0.0")).toEqual([]);
  });

  it.each([
    ["5.0.0", "4.8.0", /cannot be downgraded/],
    ["5.0.2", "5.0.1", /cannot be downgraded/],
    ["2.7.0", "5.0.0", /Unknown release 2\.7\.0: use 1\.0\.0 to 5\.4/],
    ["0.1.0", "5.0.0", /Unknown release 0\.1\.0/],
    ["5.0.0", "six", /Unknown release six/],
    ["5.0.0", "x".repeat(100), /Unknown release x{40}:/],
  ])("rejects %s to %s", (from, to, said) => {
    expect(() => planUpgrade(from, to)).toThrow(UpgradeError);
    expect(() => planUpgrade(from, to)).toThrow(said);
  });
});
