import { describe, expect, it } from "vitest";
import { CONFLICT, PROGRESS, retryOnConflict } from "./retry-on-conflict.ts";

const exceeded = (): Error => new Error("too many conflicts");

describe("retryOnConflict", () => {
  it("repeats a conflicting attempt until it returns a result", async () => {
    const numbers: number[] = [];
    const result = await retryOnConflict(
      async (number) => {
        numbers.push(number);
        return number < 3 ? CONFLICT : "done";
      },
      { exceeded },
    );
    expect(result).toBe("done");
    expect(numbers).toEqual([0, 1, 2, 3]);
  });

  it("returns undefined as a result", async () => {
    await expect(retryOnConflict(async () => undefined, { exceeded })).resolves.toBeUndefined();
  });

  it("throws after the last attempt", async () => {
    let attempts = 0;
    const retried = retryOnConflict(
      async () => {
        attempts += 1;
        return CONFLICT;
      },
      { attempts: 4, exceeded },
    );
    await expect(retried).rejects.toThrow("too many conflicts");
    expect(attempts).toBe(4);
  });

  it("counts anew after progress", async () => {
    const outcomes = [CONFLICT, PROGRESS, CONFLICT, PROGRESS, CONFLICT, "done"] as const;
    const numbers: number[] = [];
    let at = 0;
    const result = await retryOnConflict(
      async (number) => {
        numbers.push(number);
        at += 1;
        return outcomes[at - 1] ?? CONFLICT;
      },
      { attempts: 2, exceeded },
    );
    expect(result).toBe("done");
    expect(numbers).toEqual([0, 1, 0, 1, 0, 1]);
  });

  it("throws what an attempt throws", async () => {
    const retried = retryOnConflict(() => Promise.reject(new Error("no disk")), { exceeded });
    await expect(retried).rejects.toThrow("no disk");
  });
});
