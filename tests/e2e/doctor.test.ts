import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CommandResult, runCommand } from "../../bin/test-command.ts";
import { startTestServer, waitUntil } from "../../lib/testing/test-server.ts";

interface Row {
  readonly limit: string;
  readonly mark: number | null;
  readonly share: number | null;
}
interface DoctorReport {
  readonly fits: boolean;
  readonly since: string;
  readonly limits: readonly Row[];
  readonly handlers: readonly { function: string; ms: number; timeoutSeconds: number | null }[];
}

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "weft-doctor-"));
});
afterAll(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }));

const doctor = (...args: string[]): Promise<CommandResult> =>
  runCommand(["doctor", ...args], { cwd: dataDir, env: { WEFT_DATA_DIR: dataDir } });

async function report(): Promise<DoctorReport & { row(limit: string): Row | undefined }> {
  const { code, out, error } = await doctor("--aws", "--json");
  expect([code, error]).toEqual([0, ""]);
  const parsed = JSON.parse(out) as DoctorReport;
  return { ...parsed, row: (name) => parsed.limits.find(({ limit }) => limit === name) };
}

test("doctor reports the high-water marks of AWS limits, also after a restart", async () => {
  {
    await using weft = await startTestServer({ dataDir, env: { RECORD_HIGH_WATER_MARKS: "true" } });
    await weft.storeWorkflow(`
name: slow
params:
  - name: text
steps:
  - name: wait
    type: bash
    command: sleep 0.6; echo text| wc -c
`);
    await weft.emit({ topic: "large.event", data: { text: "x".repeat(100_000) } });
    const text = "é".repeat(65_000);
    expect((await weft.run({ module: "slow", params: { text } })).status).toBe("completed");
    // `doctor` reads the file that the server writes every few seconds; it sends no request to the server.
    await waitUntil("the marks of a running server", async () =>
      (await readFile(join(dataDir, "limits.json"), "utf8").catch(() => "")).includes("BashFunction"),
    );
    const early = await report();
    expect(early.handlers.map(({ function: name }) => name)).toContain("BashFunction");
    expect(early.fits).toBe(true);
    expect(await weft.stop()).toBe(0);
  }

  const first = await report();
  expect(first.fits).toBe(true);
  expect(first.row("itemBytes")).toMatchObject({ mark: expect.any(Number) });
  // The event's record is the largest item; the param of the run is the largest request.
  expect(first.row("itemBytes")?.mark).toBeGreaterThan(100_000);
  expect(first.row("itemBytes")?.mark).toBeLessThan(200_000);
  expect(first.row("requestBytes")?.mark).toBeGreaterThan(130_000);
  expect(first.row("requestBytes")?.mark).toBeLessThan(131_000);
  expect(first.row("payloadBytes")).toMatchObject({ mark: expect.any(Number) });
  expect(first.row("transactionItems")?.mark).toBeGreaterThanOrEqual(2);
  const ms = Object.fromEntries(first.handlers.map((row) => [row.function, row.ms]));
  expect(ms.BashFunction).toBeGreaterThan(590);
  expect(first.handlers.find(({ function: name }) => name === "EmitEventFunction")).toMatchObject({
    timeoutSeconds: 29,
  });
  expect(ms.ConductFunction).toBeGreaterThan(0);

  {
    await using weft = await startTestServer({ dataDir, env: { RECORD_HIGH_WATER_MARKS: "true" } });
    expect(await weft.stop()).toBe(0);
  }
  const second = await report();
  expect(second.since).toBe(first.since);
  expect(second.row("itemBytes")).toEqual(first.row("itemBytes"));

  await writeFile(join(dataDir, "limits.json"), "{ not json");
  {
    await using weft = await startTestServer({ dataDir, env: { RECORD_HIGH_WATER_MARKS: "true" } });
    expect(weft.log()).toContain("limits.json cannot be read");
    const well = await doctor();
    expect(well.code).toBe(0);
    expect(well.out).toContain("is up");
    expect(await weft.stop()).toBe(0);
  }
  expect((await report()).row("itemBytes")?.mark ?? 0).toBeLessThan(100_000);
});
