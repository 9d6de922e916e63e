import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { installSam } from "../emulators/install.ts";
import { toPascalCase } from "../names.ts";
import { type BundleSize, bundle, type FunctionBuild, functionBuilds } from "./bundles.ts";
import { sizeFaults, sizeLine } from "./sizes.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const MAIN = join(ROOT, "template.yaml");
const STACKS = join(ROOT, "infra/stacks");
const CACHE = fileURLToPath(new URL("../../node_modules/.cache", import.meta.url));
const TIMEOUT_MS = 5 * 60_000;

/**
 * Proves that AWS's own tools take what is deployed: cfn-lint and `sam validate --lint` on every template,
 * `sam build` with esbuild and without Docker, and the sizes of the bundles. Exit code 1 where one of them
 * finds a fault. Needs `python3`; its packages come from the index at the first run.
 */
async function main(): Promise<number> {
  await mkdir(CACHE, { recursive: true });
  const bin = join(await installSam(CACHE), "bin");
  const nested = (await readdir(STACKS)).map((name) => join(STACKS, name));
  const files = [MAIN, ...nested];
  const faults: string[] = [];
  const step = async (name: string, ...argv: string[]): Promise<void> => {
    const start = performance.now();
    const { code, output } = await run(bin, argv);
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`${code === 0 ? "ok  " : "FAIL"} ${name} ${seconds}s`);
    if (code === 0) return;
    console.log(output);
    faults.push(name);
  };
  await step("cfn-lint", "cfn-lint", ...files);
  for (const file of files)
    await step(`sam validate --lint ${basename(file)}`, "sam", "validate", "--lint", "-t", file);
  await step("sam build", "sam", "build", "-t", MAIN);
  if (faults.length > 0) return 1;

  const sizes = (await Promise.all(nested.map(bundleSizes))).flat();
  for (const { size, isWorker, built } of sizes.sort((left, right) => right.size.whole - left.size.whole)) {
    console.log(`     ${sizeLine(size)}`);
    faults.push(...sizeFaults(size, isWorker));
    const bytes = await stat(built).then(
      ({ size }) => size,
      () => 0,
    );
    if (bytes !== size.whole)
      faults.push(`${size.logicalId}: sam build made ${bytes} bytes, esbuild here ${size.whole}`);
  }
  for (const fault of faults) console.log(`FAIL ${fault}`);
  if (faults.length === 0) console.log(`ok   sizes of ${sizes.length} bundles`);
  return faults.length === 0 ? 0 : 1;
}

/** Runs a program of the virtual environment, which finds esbuild and npm as it looks for them: on the path. */
function run(bin: string, argv: readonly string[]): Promise<{ code: number | null; output: string }> {
  const path = [bin, join(ROOT, "node_modules/.bin"), dirname(process.execPath), process.env.PATH ?? ""];
  const child = spawn(join(bin, argv[0] ?? ""), argv.slice(1), {
    cwd: ROOT,
    env: {
      ...process.env,
      PATH: path.join(delimiter),
      SAM_CLI_TELEMETRY: "0",
      AWS_DEFAULT_REGION: process.env.AWS_DEFAULT_REGION ?? "us-east-1",
    },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: TIMEOUT_MS,
  });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => {
    child.on("error", ({ message }) => resolve({ code: null, output: message }));
    child.on("close", (code) => resolve({ code, output: Buffer.concat(chunks).toString().trim() }));
  });
}

interface Bundled extends Pick<FunctionBuild, "isWorker"> {
  readonly size: BundleSize;
  /** The bundle that SAM has made. */
  readonly built: string;
}

/** SAM's own bundles do not say what they hold, so each is made again with the same settings. */
async function bundleSizes(file: string): Promise<Bundled[]> {
  const folder = await mkdtemp(join(tmpdir(), "weft-bundles-"));
  const stack = `${toPascalCase(basename(file, ".yaml"))}Stack`;
  try {
    const bundled: Bundled[] = [];
    for (const found of functionBuilds(await readFile(file, "utf8"), file)) {
      const size = await bundle(found, join(folder, found.logicalId));
      const built = join(ROOT, ".aws-sam/build", stack, found.logicalId, found.file);
      bundled.push({ size, isWorker: found.isWorker, built });
    }
    return bundled;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) process.exitCode = await main();
