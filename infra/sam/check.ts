import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { fullPath, isStreamed } from "../../lib/http/route.ts";
import { installSam } from "../emulators/install.ts";
import { toPascalCase } from "../names.ts";
import { partOf } from "../provision/intrinsics.ts";
import { scan } from "../scan.ts";
import { servicesOf, stackFile } from "../template/services.ts";
import { generate, RESOURCES_MAX } from "../write.ts";
import { type BundleSize, bundle, functionBuilds } from "./bundles.ts";
import { type Expanded, findExpandedIssues } from "./expanded.ts";
import { findSizeIssues, formatSize } from "./sizes.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const MAIN = join(ROOT, "template.yaml");
const STACKS = join(ROOT, "infra/stacks");
const CACHE = fileURLToPath(new URL("../../node_modules/.cache", import.meta.url));
const EXPAND = fileURLToPath(new URL("expand.py", import.meta.url));
const TIMEOUT_MS = 5 * 60_000;

/**
 * Checks the deployed templates with AWS's own tools: cfn-lint and `sam validate --lint` on every template,
 * `sam build` with esbuild and without Docker, the expanded templates (resources, integrations, properties that SAM
 * ignores) and the sizes of the bundles. Exit code 1 if there is an issue. Needs Python; the first run downloads its
 * packages.
 */
async function main(): Promise<number> {
  await mkdir(CACHE, { recursive: true });
  const bin = join(await installSam(CACHE), "bin");
  const nested = (await readdir(STACKS)).map((name) => join(STACKS, name));
  const files = [MAIN, ...nested];
  const issues: string[] = [];
  const step = async (name: string, program: string, ...argv: string[]): Promise<void> => {
    const start = performance.now();
    const { code, output } = await run(bin, program, ...argv);
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`${code === 0 ? "ok  " : "FAIL"} ${name} ${seconds}s`);
    if (code === 0) return;
    console.log(output);
    issues.push(name);
  };
  await step("cfn-lint", "cfn-lint", ...files);
  for (const file of files)
    await step(`sam validate --lint ${basename(file)}`, "sam", "validate", "--lint", "-t", file);
  await step("sam build", "sam", "build", "-t", MAIN);
  if (issues.length > 0) return 1;

  issues.push(...(await findTemplateIssues(bin, files)));
  const sizes = (await Promise.all(nested.map(bundleSizes))).flat();
  for (const { size, built } of sizes.sort((left, right) => right.size.total - left.size.total)) {
    console.log(`     ${formatSize(size)}`);
    issues.push(...findSizeIssues(size));
    for (const [name, here] of [[basename(built), size.total] as const, ...size.parts]) {
      const bytes = await stat(join(dirname(built), name)).then(
        ({ size }) => size,
        () => 0,
      );
      if (bytes !== here)
        issues.push(`${size.logicalId}: sam build made ${bytes} bytes of ${name}, esbuild here ${here}`);
    }
  }
  for (const issue of issues) console.log(`FAIL ${issue}`);
  if (issues.length === 0)
    console.log(`ok   resources of ${files.length} stacks, sizes of ${sizes.length} bundles`);
  return issues.length === 0 ? 0 : 1;
}

/**
 * Runs a program of the virtual environment through its Python: the program's own interpreter path is wrong in a
 * copied checkout. The programs find esbuild and npm on the path.
 */
function run(
  bin: string,
  program: string,
  ...argv: string[]
): Promise<{ code: number | null; output: string }> {
  const path = [bin, join(ROOT, "node_modules/.bin"), dirname(process.execPath), process.env.PATH ?? ""];
  const child = spawn(join(bin, "python"), [resolve(bin, program), ...argv], {
    cwd: ROOT,
    env: {
      ...process.env,
      PATH: path.join(delimiter),
      SAM_CLI_TELEMETRY: "0",
      // SAM would store its metadata in the home folder.
      __SAM_CLI_APP_DIR: join(CACHE, "weft-sam-settings"),
      AWS_DEFAULT_REGION: process.env.AWS_DEFAULT_REGION ?? "us-east-1",
    },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: TIMEOUT_MS,
  });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
  return new Promise((settle) => {
    child.on("error", ({ message }) => settle({ code: null, output: message }));
    child.on("close", (code) => settle({ code, output: Buffer.concat(chunks).toString().trim() }));
  });
}

/** Expands the templates with SAM's own transform, and compares the number of resources with our count. */
async function findTemplateIssues(bin: string, files: readonly string[]): Promise<string[]> {
  const { code, output } = await run(bin, EXPAND, ...files);
  // The transform logs before the last line.
  const line = output.split("\n").find((text) => text.startsWith('{"'));
  if (code !== 0 || line === undefined) return [`SAM cannot expand the templates: ${output.slice(-4000)}`];
  const { sizes } = await generate(ROOT);
  const services = servicesOf(await scan(ROOT));
  return Object.entries(JSON.parse(line) as Record<string, Expanded>).flatMap(([path, expanded]) => {
    const name = relative(ROOT, path);
    const resources = Object.keys(partOf(partOf(expanded.template).Resources)).length;
    const streamed = services
      .filter(({ service }) => stackFile(service) === name)
      .flatMap(({ routes }) => routes.filter(({ route }) => isStreamed(route)))
      .map(({ route }) => `${route.method} ${fullPath(route)}`);
    const ours = sizes.get(name)?.resources;
    console.log(
      `     ${name}: ${resources} resources of ${RESOURCES_MAX}, ${streamed.length} streamed routes`,
    );
    return [
      ...(resources > RESOURCES_MAX ? [`${resources} resources, at most ${RESOURCES_MAX}`] : []),
      ...(resources === ours ? [] : [`SAM creates ${resources} resources, we count ${ours}`]),
      ...findExpandedIssues(expanded, streamed),
    ].map((issue) => `${name}: ${issue}`);
  });
}

interface Bundled {
  readonly size: BundleSize;
  /** Path of SAM's bundle. */
  readonly built: string;
}

/** SAM's bundles have no metafile, so each is built again with the same settings. */
async function bundleSizes(file: string): Promise<Bundled[]> {
  const folder = await mkdtemp(join(tmpdir(), "weft-bundles-"));
  const stack = `${toPascalCase(basename(file, ".yaml"))}Stack`;
  try {
    const bundled: Bundled[] = [];
    for (const found of functionBuilds(await readFile(file, "utf8"), file)) {
      const size = await bundle(found, join(folder, found.logicalId));
      const built = join(ROOT, ".aws-sam/build", stack, found.logicalId, found.file);
      bundled.push({ size, built });
    }
    return bundled;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  process.exitCode = await main().catch((error: unknown) => {
    console.error(`FAIL ${error instanceof Error ? error.message : error}`);
    return 1;
  });
}
