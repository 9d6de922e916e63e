import { describe, expect, it } from "vitest";
import type { OutgoingMessage } from "../../platform/queues.ts";
import { testDeps } from "../../testing/test-deps.ts";
import { IndexRequests } from "./index-requests.ts";

const STEP_MS = 50;

/** When the requested messages arrive while some documents are edited all the time, by document, milliseconds. */
async function arrivalsOf(documents: number, seconds: number): Promise<number[][]> {
  const test = await testDeps();
  try {
    const arrivals = Array.from({ length: documents }, (): number[] => []);
    const startedAt = test.clock.now();
    const send = async (_queue: string, messages: readonly OutgoingMessage[]): Promise<void> => {
      for (const { body, delaySeconds = 0 } of messages) {
        const { document_id: id } = JSON.parse(body) as { document_id: string };
        arrivals[Number(id)]?.push(test.clock.now() - startedAt + delaySeconds * 1000);
      }
    };
    const deps = { ...test.deps, queues: { ...test.deps.queues, send } };
    const requests = arrivals.map(() => new IndexRequests());
    for (let at = 0; at < seconds * 1000; at += STEP_MS) {
      for (const [id, one] of requests.entries()) one.request(deps, `${id}`, 0);
      test.clock.advance(STEP_MS);
    }
    return arrivals;
  } finally {
    await test.close();
  }
}

const gaps = (times: readonly number[]): number[] =>
  times.slice(1).map((time, at) => time - (times[at] ?? 0));

describe("indexing of documents that are edited", () => {
  it("happens once a second while up to fifty are", async () => {
    for (const times of await arrivalsOf(50, 10))
      for (const gap of gaps(times)) expect(gap).toBeLessThanOrEqual(1_100);
  });

  it("happens for about fifty documents a second while more are, and leaves none out", async () => {
    const arrivals = await arrivalsOf(200, 20);
    for (const times of arrivals) for (const gap of gaps(times)) expect(gap).toBeLessThanOrEqual(6_000);
    expect(arrivals.flat().length / 20).toBeLessThanOrEqual(70);
  });
});
