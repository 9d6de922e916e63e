import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CloudSubject, openCloudSubject } from "./aws-subject.ts";
import { type Exchange, normalize, recordRequests } from "./exchanges.ts";
import { SCENARIOS } from "./scenarios.ts";

const FILE = new URL("recorded.json", import.meta.url);

/**
 * Compares the recorded responses that other tests use with those of the services. After an intended change,
 * `WEFT_RECORD=1` rewrites the file. Services differ in members that nobody reads, so only moto is compared.
 */
describe.skipIf(process.env.WEFT_EMULATED !== "moto")("the recorded shapes", () => {
  let subject: CloudSubject;
  let recorder: ReturnType<typeof recordRequests>;
  const found: Record<string, { result: unknown; exchanges: readonly Exchange[] }> = {};
  beforeAll(async () => {
    subject = await openCloudSubject();
    recorder = recordRequests(subject.clients, subject.stack);
  });
  afterAll(() => subject.close());

  it.each(Object.entries(SCENARIOS))("are those of the emulators: %s", async (name, scenario) => {
    recorder.clear();
    const result = normalize(subject.stack, await scenario(subject.ports));
    found[name] = { result, exchanges: recorder.exchanges };
    if (process.env.WEFT_RECORD) return;
    const recorded = JSON.parse(await readFile(FILE, "utf8")) as typeof found;
    expect(found[name]).toEqual(recorded[name]);
  });

  afterAll(async () => {
    if (process.env.WEFT_RECORD) await writeFile(FILE, `${JSON.stringify(found, undefined, 1)}\n`);
  });
});
