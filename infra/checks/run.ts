import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkConventions } from "./conventions.ts";
import { checkImports } from "./imports.ts";
import { type Finding, listSources } from "./sources.ts";

/** Result of a part, and the text to print. */
export interface Outcome {
  readonly ok: boolean;
  readonly output: string;
}

/** One part of the check. */
export interface Part {
  readonly name: string;
  /** The command that fixes the issues, or checks again. */
  readonly fix: string;
  /** Prints the output of a successful run, too. */
  readonly verbose?: true;
  run(root: string): Promise<Outcome>;
}

const bin = (name: string): string => join("node_modules", ".bin", name);

export const PARTS: readonly Part[] = [
  {
    name: "lint",
    fix: "npm run fix",
    run: (root) =>
      runProgram(root, [
        bin("biome"),
        "ci",
        "--colors=off",
        "--diagnostic-level=warn",
        "--error-on-warnings",
        "--max-diagnostics=50",
        ".",
      ]),
  },
  {
    name: "types",
    fix: "fix the files above, then: node infra/checks/run.ts types",
    run: async (root) => {
      const outcomes: Outcome[] = [];
      for (const project of [".", "web", "tests/browser"]) outcomes.push(await checkTypes(root, project));
      return joinOutcomes(outcomes);
    },
  },
  {
    name: "imports",
    fix: "follow infra/checks/import-rules.ts, then: node infra/checks/run.ts imports",
    run: async (root) => toOutcome(await checkImports(root)),
  },
  {
    name: "conventions",
    fix: "fix the files above, then: node infra/checks/run.ts conventions",
    run: async (root) => toOutcome(checkConventions(await listSources(root))),
  },
  {
    name: "generated",
    fix: "npm run infra:write",
    verbose: true,
    run: async (root) =>
      joinOutcomes(
        await Promise.all(
          ["write.ts", "readme.ts"].map((file) => runProgram(root, [join("infra", file), "--check"])),
        ),
      ),
  },
];

/** Checks the types of one project: the sources that Node runs, those that browsers run, or tests that have parts of both. */
function checkTypes(root: string, project: string): Promise<Outcome> {
  const buildInfo = join("node_modules", ".cache", `types-${project.replaceAll(/\W/g, "-")}.tsbuildinfo`);
  const options = ["--pretty", "false", "--incremental", "--tsBuildInfoFile", buildInfo];
  return runProgram(root, [bin("tsc"), "-p", project, ...options]);
}

function joinOutcomes(outcomes: readonly Outcome[]): Outcome {
  const outputs = outcomes.map(({ output }) => output.trim());
  return {
    ok: outcomes.every(({ ok }) => ok),
    output: outputs.filter((output) => output !== "").join("\n"),
  };
}

function toOutcome(findings: readonly Finding[]): Outcome {
  const lines = findings.map(({ path, rule, message }) => `${path}: ${rule}: ${message}`);
  return { ok: findings.length === 0, output: lines.join("\n") };
}

/** Runs a Node program and returns stdout and stderr together. */
function runProgram(root: string, argv: readonly string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, argv, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.on("error", (error) => resolve({ ok: false, output: error.message }));
    child.on("close", (code) => resolve({ ok: code === 0, output: Buffer.concat(chunks).toString().trim() }));
  });
}

const MS_PER_SECOND = 1000;

/**
 * Runs the named parts, or all of them, at the same time, and prints their results in their order. Exit code: 0 if all
 * parts pass, 1 if one fails, 2 for an unknown name.
 */
export async function runChecks(
  root: string,
  names: readonly string[],
  parts: readonly Part[] = PARTS,
  print: (line: string) => void = console.log,
): Promise<0 | 1 | 2> {
  const unknown = names.filter((name) => !parts.some((part) => part.name === name));
  if (unknown.length > 0) {
    print(`unknown part: ${unknown.join(", ")}. Parts: ${parts.map((part) => part.name).join(", ")}`);
    return 2;
  }
  const started = parts
    .filter(({ name }) => names.length === 0 || names.includes(name))
    .map((part) => ({ part, running: runPart(part, root) }));
  let code: 0 | 1 = 0;
  for (const { part, running } of started) {
    const { outcome, seconds } = await running;
    print(`${outcome.ok ? "ok  " : "FAIL"} ${part.name} ${seconds}s`);
    if ((!outcome.ok || part.verbose === true) && outcome.output !== "")
      print(outcome.output.replace(/^/gm, "     "));
    if (!outcome.ok) {
      print(`     fix: ${part.fix}`);
      code = 1;
    }
  }
  return code;
}

async function runPart(part: Part, root: string): Promise<{ outcome: Outcome; seconds: string }> {
  const start = performance.now();
  const outcome = await part.run(root).catch((error: unknown) => ({
    ok: false,
    output: error instanceof Error ? error.message : String(error),
  }));
  return { outcome, seconds: ((performance.now() - start) / MS_PER_SECOND).toFixed(1) };
}

if (import.meta.main) {
  process.exitCode = await runChecks(fileURLToPath(new URL("../..", import.meta.url)), process.argv.slice(2));
}
