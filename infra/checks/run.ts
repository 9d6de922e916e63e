import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkHouse } from "./house.ts";
import { checkImports } from "./imports.ts";
import { type Finding, listSources } from "./sources.ts";

/** What a part has to say, and whether it holds. */
export interface Outcome {
  readonly ok: boolean;
  readonly output: string;
}

/** One part of the check. */
export interface Part {
  readonly name: string;
  /** The command that mends what it finds. */
  readonly fix: string;
  /** Its output is worth reading when it holds, too. */
  readonly telling?: true;
  run(root: string): Promise<Outcome>;
}

const bin = (name: string): string => join("node_modules", ".bin", name);

export const PARTS: readonly Part[] = [
  {
    name: "lint",
    fix: "npm run fix",
    run: (root) =>
      program(root, [
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
    fix: "mend the files named, then: node infra/checks/run.ts types",
    run: (root) =>
      program(root, [
        bin("tsc"),
        ...["-p", ".", "--pretty", "false"],
        ...["--incremental", "--tsBuildInfoFile", join("node_modules", ".cache", "types.tsbuildinfo")],
      ]),
  },
  {
    name: "imports",
    fix: "move the code to where it may be imported (infra/checks/import-rules.ts), then: node infra/checks/run.ts imports",
    run: async (root) => toOutcome(await checkImports(root)),
  },
  {
    name: "house",
    fix: "mend the files named, then: node infra/checks/run.ts house",
    run: async (root) => toOutcome(checkHouse(await listSources(root))),
  },
  {
    name: "generated",
    fix: "npm run infra:write",
    telling: true,
    run: async (root) => {
      const outcomes = await Promise.all(
        ["write.ts", "readme.ts"].map((file) => program(root, [join("infra", file), "--check"])),
      );
      return {
        ok: outcomes.every(({ ok }) => ok),
        output: outcomes
          .map(({ output }) => output.trim())
          .filter((output) => output !== "")
          .join("\n"),
      };
    },
  },
];

function toOutcome(findings: readonly Finding[]): Outcome {
  const lines = findings.map(({ path, rule, message }) => `${path}: ${rule}: ${message}`);
  return { ok: findings.length === 0, output: lines.join("\n") };
}

/** Runs a program of Node's with both outputs together. */
function program(root: string, argv: readonly string[]): Promise<Outcome> {
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
 * Runs the parts named, or all of them, one after another, and goes on after one that fails. Exit code: 0 when
 * all hold, 1 when one does not, 2 for a name that is no part.
 */
export async function runChecks(
  root: string,
  names: readonly string[],
  parts: readonly Part[] = PARTS,
  print: (line: string) => void = console.log,
): Promise<0 | 1 | 2> {
  const unknown = names.filter((name) => !parts.some((part) => part.name === name));
  if (unknown.length > 0) {
    print(`no such part: ${unknown.join(", ")}. There are: ${parts.map((part) => part.name).join(", ")}`);
    return 2;
  }
  let code: 0 | 1 = 0;
  for (const part of parts.filter(({ name }) => names.length === 0 || names.includes(name))) {
    const start = performance.now();
    const outcome = await part.run(root).catch((error: unknown) => ({
      ok: false,
      output: error instanceof Error ? error.message : String(error),
    }));
    const seconds = ((performance.now() - start) / MS_PER_SECOND).toFixed(1);
    print(`${outcome.ok ? "ok  " : "FAIL"} ${part.name} ${seconds}s`);
    if ((!outcome.ok || part.telling === true) && outcome.output !== "")
      print(outcome.output.replace(/^/gm, "     "));
    if (!outcome.ok) {
      print(`     mend: ${part.fix}`);
      code = 1;
    }
  }
  return code;
}

if (import.meta.main) {
  process.exitCode = await runChecks(fileURLToPath(new URL("../..", import.meta.url)), process.argv.slice(2));
}
