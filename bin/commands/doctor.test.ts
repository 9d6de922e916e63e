import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LIMITS } from "../../lib/platform/limits.ts";
import { type CommandResult, runCommand } from "../test-command.ts";
import type { AwsReport } from "./doctor-aws.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-doctor-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const doctor = (...args: string[]): Promise<CommandResult> =>
  runCommand(["doctor", ...args], {
    cwd: folder,
    env: { WEFT_DATA_DIR: folder, PORT: "0", WEFT_URL: "http://127.0.0.1:1" },
  });

const writeMeasurements = (limits: Record<string, number>, handlers: Record<string, number> = {}) =>
  writeFile(
    join(folder, "limits.json"),
    JSON.stringify({
      form: 1,
      since: "2026-01-01T00:00:00.000Z",
      written: "2026-01-02T00:00:00.000Z",
      limits,
      handlers,
    }),
  );

describe("weft doctor --aws", () => {
  it("lists every limit and marks those without measured values", async () => {
    const { code, out, error } = await doctor("--aws");
    expect([code, error]).toEqual([0, expect.stringContaining("start Weft")]);
    for (const [name, { source }] of Object.entries(LIMITS))
      expect(out).toMatch(new RegExp(`^ +${name} .*${source}`, "m"));
    expect(out).toMatch(/itemBytes +409,600 +not measured +bytes +DynamoDB\n/);
    expect(out).toMatch(/infra\/stacks\/workflows\.yaml +\d{2,3} +\d{2,3} +0 +\d{2} /);
    expect(out).toContain("Everything fits the limits of AWS.");
    expect(out).not.toContain("\u001b[");
  });

  it("prints the highest values and their share, and functions by the share of their timeout", async () => {
    await writeMeasurements(
      { itemBytes: 204_800, sortKeyBytes: 100, batchGetItems: 1000, visibilitySeconds: 60 },
      { EmitEventFunction: 14_500, ConductFunction: 1500, BashFunction: 3_600_000, GoneFunction: 99_000 },
    );
    const { code, out, error } = await doctor("--aws");
    expect([code, error]).toEqual([0, ""]);
    expect(out).toMatch(/itemBytes +409,600 +204,800 +50\.0 % +bytes/);
    expect(out).toMatch(/sortKeyBytes +1,024 +100 +9\.8 % +bytes/);
    expect(out).toMatch(/batchGetItems +100 +1,000 +1000\.0 % +items +DynamoDB +more is split/);
    expect(out).toMatch(/httpHandlerSeconds +29 +14\.5 +50\.0 % +seconds +API Gateway +EmitEventFunction/);
    const functions = out.slice(out.indexOf("Functions"));
    expect(functions).toMatch(
      /EmitEventFunction +14\.5 s +29 s +50\.0 %\n +ConductFunction +1\.5 s +60 s +2\.5 %\n/,
    );
    expect(functions).toMatch(/BashFunction +3600\.0 s +none/);
    const json = JSON.parse((await doctor("--aws", "--json")).out) as AwsReport;
    expect(json).toMatchObject({ fits: true, faults: [], note: null, since: "2026-01-01T00:00:00.000Z" });
    expect(json.limits.map(({ limit }) => limit)).toEqual(Object.keys(LIMITS));
    expect(json.limits.find(({ limit }) => limit === "itemBytes")).toEqual({
      limit: "itemBytes",
      unit: "bytes",
      source: "DynamoDB",
      allowed: 409_600,
      mark: 204_800,
      share: 50,
      beyond: "refused",
      where: null,
    });
    // Declared values count like measured ones.
    expect(json.limits.find(({ limit }) => limit === "visibilitySeconds")?.mark).toBeGreaterThan(60);
    expect(json.handlers.map((row) => [row.function, row.timeoutSeconds])).toContainEqual([
      "GoneFunction",
      null,
    ]);
    const [main, nested] = json.stacks;
    expect([main?.file, nested?.file]).toEqual(["template.yaml", "infra/stacks/workflows.yaml"]);
    expect(nested?.functions).toBeGreaterThan(20);
    expect(nested?.resources).toBeGreaterThan(nested?.functions ?? 0);
    expect(nested?.longestEnvironment?.bytes).toBeGreaterThan(500);
  });

  it("exits with 1 and lists the exceeded limits", async () => {
    await writeMeasurements(
      { itemBytes: 500_000, queryPageBytes: 2_000_000 },
      { EmitEventFunction: 29_000, DispatchFunction: 61_000 },
    );
    const { code, out, error } = await doctor("--aws");
    expect([code, error]).toEqual([1, "weft: 3 limits of AWS would be exceeded.\n"]);
    expect(out.slice(out.indexOf("Exceeded limits")).trim().split("\n  ")).toEqual([
      "Exceeded limits",
      "itemBytes reached 500000 bytes; DynamoDB allows 409600",
      "DispatchFunction took 61.0 s; its timeout is 60 s",
      "EmitEventFunction took 29.0 s; its timeout is 29 s",
    ]);
    const json = await doctor("--aws", "--json");
    expect([json.code, (JSON.parse(json.out) as AwsReport).faults.length]).toEqual([1, 3]);
  });

  it("reports a file of measurements that cannot be read", async () => {
    await writeFile(join(folder, "limits.json"), "garbage");
    const { code, out, error } = await doctor("--aws", "--json");
    expect([code, error]).toEqual([0, expect.stringContaining("cannot be read")]);
    expect(JSON.parse(out)).toMatchObject({ fits: true, since: null, handlers: [] });
  });
});

describe("weft doctor", () => {
  it("prints the checks of the machine, or JSON", async () => {
    const { code, out } = await doctor();
    expect(code).toBe(0);
    expect(out).toMatch(/^ok {4}node {11}24\./);
    expect(out).toMatch(
      /^warn {2}server {9}no server responds at http:\/\/127\.0\.0\.1:1 .*\n {21}start it with: npx weft start$/m,
    );
    const { checks } = JSON.parse((await doctor("--json")).out);
    expect(checks[0]).toEqual({ name: "node", level: "ok", text: process.versions.node });
  });

  it("exits with 1 if a check fails", async () => {
    await writeFile(join(folder, "access-token"), "t\n", { mode: 0o644 });
    const { code, out, error } = await doctor();
    expect([code, error]).toEqual([1, "weft: 1 of 10 checks failed.\n"]);
    expect(out).toMatch(/^fail {2}token .*readable by other users \(0644\)\n +chmod 600 /m);
  });

  it.each([["now"], ["--azure"], ["--data-dir"], ["--aws", "--json", "x"]])(
    "exits with 2 for 'weft doctor %s %s'",
    async (...args) => {
      const { code, out, error } = await doctor(...args);
      // With --json, standard output has the reason too.
      const stdout = args.includes("--json") ? /^\{"error":true,"message":".+"\}\n$/ : /^$/;
      expect([code, out]).toEqual([2, expect.stringMatching(stdout)]);
      expect(error).toMatch(/^weft: .*\nTry: weft help doctor/);
    },
  );

  it("has examples in its help", async () => {
    const { code, out } = await doctor("--help");
    expect(code).toBe(0);
    expect(out).toContain("weft doctor --aws --json");
  });
});
