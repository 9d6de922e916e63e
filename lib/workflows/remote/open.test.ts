import { describe, expect, it } from "vitest";
import { Gate } from "./open.ts";

const wanted = { signal: new AbortController().signal, timeoutMs: 10_000 };

describe("a gate", () => {
  it("admits a limited number at a time, in order of arrival", async () => {
    const gate = new Gate(2);
    const entered: number[] = [];
    const leaves = [0, 1, 2, 3].map(async (number) => {
      const leave = await gate.enter(wanted);
      entered.push(number);
      return leave;
    });
    const first = await leaves[0];
    await new Promise(setImmediate);
    expect(entered).toEqual([0, 1]);
    first?.();
    first?.();
    await new Promise(setImmediate);
    expect(entered).toEqual([0, 1, 2]);
    (await leaves[1])?.();
    expect(gate.isIdle).toBe(false);
    for (const leave of [leaves[2], leaves[3]]) (await leave)?.();
    expect(gate.isIdle).toBe(true);
  });

  it("skips callers that abort or time out", async () => {
    const gate = new Gate(1);
    const leave = await gate.enter(wanted);
    const cancel = new AbortController();
    const cancelled = gate.enter({ ...wanted, signal: cancel.signal });
    const late = gate.enter({ ...wanted, timeoutMs: 5 });
    const patient = gate.enter(wanted);
    cancel.abort();
    await expect(cancelled).rejects.toMatchObject({ name: "StepCancelledError" });
    await expect(late).rejects.toThrow("timed out");
    leave();
    expect(await patient).toBeTypeOf("function");
    await expect(gate.enter({ ...wanted, signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: "StepCancelledError",
    });
  });
});
