import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, type TestContext, test } from "vitest";
import { freePort, linkClone, pasteCommands, WAIT_FOR_SERVER } from "./paste-commands.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TOUR_MAX_MS = 150_000;
const NOTE = ["TO", "DO"].join("");

/** A block of a page: `server` is for the first terminal, `tour` for the second. */
interface Block {
  readonly terminal: string;
  readonly text: string;
}

async function blocksOf(page: string): Promise<Block[]> {
  const text = await readFile(join(ROOT, page), "utf8");
  const found = text.matchAll(/^```sh (server|tour)\n([\s\S]*?)^```$/gm);
  return [...found].map(([, terminal = "", text = ""]) => ({ terminal, text }));
}

/** Joins both terminals in one script: the server runs in the background, and the script waits until it responds. */
function scriptOf(tour: readonly Block[]): string {
  const parts = tour.map(({ terminal, text }) =>
    terminal === "tour" ? text : `(${text.trim()}) >> server.log 2>&1 &\n${WAIT_FOR_SERVER}`,
  );
  return `set -e\n${parts.join("")}`;
}

/** Creates a clone of links with one file that the audit reports, until the end of the test. */
async function makeClone({ onTestFinished }: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "weft tour "));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  await linkClone(folder);
  await writeFile(join(folder, "notes and more.txt"), `nothing\n${NOTE}: something\n`);
  await writeFile(join(folder, ".gitignore"), "node_modules\n.weft\ndata\n*.log\n");
  for (const args of [
    ["init", "--quiet"],
    ["add", "--all"],
  ]) {
    const git = spawn("git", args, { cwd: folder, stdio: "ignore" });
    expect(await once(git, "close")).toEqual([0, null]);
  }
  return folder;
}

/** Pastes a tour into a clone with its own data folder and port. Returns the output of both terminals. */
async function pasteTour(
  context: TestContext,
  tour: readonly Block[],
): Promise<{ out: string; all: string; token: string }> {
  const folder = await makeClone(context);
  const dataDir = join(folder, "data");
  const env = { PORT: String(await freePort()), WEFT_DATA_DIR: dataDir };
  const { code, out } = await pasteCommands(scriptOf(tour), env, { folder, mostMs: TOUR_MAX_MS });
  const all = `${out}\n${await readFile(join(folder, "server.log"), "utf8")}`;
  expect(code, all).toBe(0);
  return { out, all, token: (await readFile(join(dataDir, "access-token"), "utf8")).trim() };
}

// One waits half a minute for an event.
describe.concurrent("the tour", { timeout: TOUR_MAX_MS + 30_000 }, () => {
  test("of the README works when it is pasted", async (context) => {
    const blocks = await blocksOf("README.md");
    expect(blocks.map(({ terminal, text }) => [terminal, text.trim().split("\n").length < 20])).toEqual([
      ["tour", true],
    ]);
    const { out, all, token } = await pasteTour(context, [
      { terminal: "server", text: "npm start" },
      ...blocks,
    ]);
    expect(out).toContain('"message":"Workflow saved","name":"begin-minutes"');
    expect(out).toContain("\n# Present\n\n# Decided\n");
    expect(out).toMatch(/begin-minutes.*(?:running|completed)/);
    expect(out).toContain("documents.created");
    expect(all).not.toContain(token);
  });

  test("of docs/tour.md works when it is pasted", async (context) => {
    const tour = await blocksOf("docs/tour.md");
    expect(tour.map(({ terminal }) => terminal).filter((terminal) => terminal === "server").length).toBe(2);
    const { out, all, token } = await pasteTour(context, tour);

    const audited = [
      "completed  list-files",
      "completed  names",
      "completed  scan",
      "completed  collect",
      "completed  describe",
      "completed  report",
      "completed  known-assets",
      "completed  summary",
      "completed  tidy",
    ];
    expect(out).toContain(`\ncompleted\n${audited.join("\n")}\n`);
    expect(out).toContain('"asset_value":"notes and more.txt:2 todo"');
    expect(out).toContain("\nassets.new 1\ncustom.finding.filed 1\n");
    expect(out).toMatch(/\nrun\.completed 2\nstep\.completed 13\n\d+\n/);
    expect(out).toContain('"triggered_workflows":["file-findings"]');
    expect(out).toMatch(/# Findings on \d{4}-\d\d-\d\d\n/);
    expect(out).toContain("\nowner\n\n<p># Symptoms<br>It is slow.</p>\n%PDF-\ncommenter\n");
    expect(out).toContain("[ 'Database in Runbooks' ]\nAda Lovelace\nDocument moved successfully.\n");
    expect(out).toContain("\n[ 'Database', 'Backups' ]\nBen sees: Ana was here.");
    expect(out).toContain(
      "\nboth see the same 36 characters, and they are saved\nSo was Ben. Ana was here. And here.",
    );
    expect(out).toContain("\nDisks.md\n# Disks\n\n* [x] free space\n* [ ] replace one\n");
    expect(out).toMatch(/\n\[ 'Disks on \d{4}-\d\d-\d\d' \]\n/);
    expect(out).toContain("\nA runbook needs sections of these names: steps, rollback\n");
    expect(out).toContain("\n# Symptoms\nIt is slow.\n\ncompleted  wait  attempt 2\n");
    expect(out).toContain("0 of 0\n");
    for (const name of [
      "audit-repository",
      "file-findings",
      "daily-digest",
      "file-report",
      "check-runbooks",
      "slow",
    ]) {
      expect(out).toContain(`"message":"Workflow saved","name":"${name}"`);
    }
    expect(all).not.toContain(token);
  });
});
