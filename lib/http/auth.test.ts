import { describe, expect, it } from "vitest";
import { bearerToken, hashToken, ownerAuthenticator } from "./auth.ts";

describe("the owner's token", () => {
  it("is known by its hash alone, whole", async () => {
    const auth = ownerAuthenticator(hashToken("correct-horse-battery"));
    expect(await auth.authenticate("correct-horse-battery")).toMatchObject({ kind: "owner", id: "owner" });
    for (const wrong of [
      "",
      "correct-horse-batter",
      "correct-horse-battery ",
      "CORRECT-HORSE-BATTERY",
      "x".repeat(5000),
    ]) {
      expect(await auth.authenticate(wrong)).toBeUndefined();
    }
  });
});

describe("a bearer header", () => {
  it("gives its token, in any case of the scheme, and nothing for any other header", () => {
    expect(bearerToken("Bearer abc")).toBe("abc");
    expect(bearerToken("bearer  abc ")).toBe("abc");
    for (const other of [
      undefined,
      "",
      "Bearer",
      "Bearer ",
      "Basic abc",
      "Bearer a b",
      "abc",
      `Bearer ${"x".repeat(9000)}`,
    ]) {
      expect(bearerToken(other)).toBeUndefined();
    }
  });
});
