import { describe, expect, it } from "vitest";
import { SYNC } from "./message-type.ts";
import { RefusedUpdates } from "./refused-updates.ts";

/** Counts as the stock provider does: 1 for the first sync, and 1 for each edit. */
function connected() {
  const refused = new RefusedUpdates();
  refused.accept(SYNC.step2);
  return { refused, edit: () => refused.refuse(SYNC.update) };
}

describe("updates that were refused", () => {
  it("need one acknowledgement each, besides that of the step 2 that contains them", () => {
    const { refused, edit } = connected();
    for (let count = 0; count < 4; count += 1) edit();
    expect(refused.accept(SYNC.step2)).toBe(3);
    expect(refused.accept(SYNC.step2)).toBe(0);
  });

  it("are asked for once, until the client has responded", () => {
    const { refused, edit } = connected();
    expect(refused.ask()).toBe(false);
    edit();
    expect([refused.ask(), refused.ask()]).toEqual([true, false]);
    // The client may not write again when the response arrives.
    refused.refuse(SYNC.step2);
    expect(refused.ask()).toBe(true);
    expect(refused.accept(SYNC.step2)).toBe(0);
    expect(refused.ask()).toBe(false);
  });

  it("are not acknowledged with an update that is stored", () => {
    const { refused, edit } = connected();
    edit();
    edit();
    expect(refused.accept(SYNC.update)).toBe(0);
    expect(refused.accept(SYNC.step2)).toBe(1);
  });

  it("include the first sync of a client that has connected without the right to write", () => {
    const refused = new RefusedUpdates();
    refused.refuse(SYNC.step2);
    refused.refuse(SYNC.update);
    expect(refused.ask()).toBe(true);
    // One for the first sync, and one for the edit.
    expect(refused.accept(SYNC.step2)).toBe(1);
  });
});
