import { afterEach, describe, expect, it, vi } from "vitest";
import { terminal } from "../terminal.ts";
import { upgrade } from "./upgrade.ts";

afterEach(() => void vi.restoreAllMocks());

async function run(...args: readonly string[]): Promise<string> {
  let printed = "";
  vi.spyOn(terminal, "out").mockImplementation((text) => {
    printed += text;
  });
  await upgrade.parseAsync(args, { from: "user" });
  return printed;
}

describe("weft upgrade plan", () => {
  it("prints every release between, with its requirements", async () => {
    const lines = (await run("plan", "--from", "2.1.4", "--to", "5.0.0")).split("\n");
    expect(lines[0]).toBe(
      "From 2.1.4 to 5.0.0: 26 releases, one after the other. Back up the stored data first.",
    );
    const releases = lines.flatMap((line) => /^ {2}(\d\S+)/.exec(line)?.[1] ?? []);
    expect(releases).toHaveLength(26);
    expect([releases[0], releases.at(-2), releases.at(-1)]).toEqual(["2.2.0", "4.8.0", "5.0.0"]);
    expect(lines.find((line) => line.startsWith("  2.2.0 "))).toContain("AI_ALLOW_REACH_FROM=public");
    expect(lines.filter((line) => line.startsWith("          - ")).join("\n")).toContain(
      "PRIMARY_SDK_API_KEY",
    );
  });

  it("defaults to this version's release, and prints JSON with --json", async () => {
    const plan = JSON.parse(await run("plan", "--from", "4.8", "--json")) as unknown;
    expect(plan).toEqual({
      from: "4.8.0",
      to: "5.0.0",
      steps: [{ release: "5.0.0", asks: expect.arrayContaining([expect.stringContaining("DocSpec 3.0.0")]) }],
    });
    expect(await run("plan", "--from", "5.0.0", "--to", "5.0.0")).toBe(
      "The data already has release 5.0.0.\n",
    );
  });

  it.each([
    [["plan"], "required option '--from <release>' not specified"],
    [["plan", "--from", "5.0.0", "--to", "4.8.0"], /^4\.8\.0 is older than 5\.0\.0: .*\.$/],
    [["plan", "--from", "2.9.1"], /^Unknown release 2\.9\.1: use 1\.0\.0 to 5\.4, such as 5\.0\.0\.$/],
  ])("rejects %j with one sentence", async (args, message) => {
    await expect(run(...args)).rejects.toThrow(message);
  });
});
