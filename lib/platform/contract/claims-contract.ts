import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Subject } from "./resources.ts";

export function claimsContract(subject: Subject): void {
  describe("claims", () => {
    it("grant a name to the first caller and reject later ones", async () => {
      const name = `${randomUUID()}/a`;
      expect(await subject().claims.isTaken(name)).toBe(false);
      expect(await subject().claims.take(name)).toBe(true);
      expect(await subject().claims.take(name)).toBe(false);
      expect(await subject().claims.isTaken(name)).toBe(true);
      expect(await subject().claims.isTaken(`${name}b`)).toBe(false);
    });

    it("grant a name to one of many concurrent callers", async () => {
      const name = randomUUID();
      const taken = await Promise.all(Array.from({ length: 5 }, () => subject().claims.take(name)));
      expect(taken.filter(Boolean)).toHaveLength(1);
    });
  });
}
