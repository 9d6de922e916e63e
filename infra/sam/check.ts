import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { basename, delimiter, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Metafile } from "esbuild";
import { fullPath, isStreamed } from "../../lib/http/route.ts";
import { installSam } from "../emulators/install.ts";
import { toPascalCase } from "../names.ts";
import { partOf } from "../provision/intrinsics.ts";
import { scanFunctions } from "../scan.ts";
import { servicesOf, stackFile } from "../template/services.ts";
import { generateFiles, RESOURCES_MAX } from "../write.ts";
import {
  type BundleSize,
  bundle,
  configurationOf,
  type FunctionBuild,
  functionBuilds,
  samplesOf,
  sizeOf,
} from "./bundles.ts";
import { type Expanded, findExpandedIssues } from "./expanded.ts";
import { findAverageIssues, findSizeIssues, formatSize, sizesTable } from "./sizes.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const MAIN = join(ROOT, "template.yaml");
const STACKS = join(ROOT, "infra/stacks");
const CACHE = fileURLToPath(new URL("../../node_modules/.cache", import.meta.url));
const EXPAND = fileURLToPath(new URL("expand.py", import.meta.url));
/** Replacements for programs that `sam build` runs. */
const PROGRAMS = fileURLToPath(new URL("programs", import.meta.url));
/** CI runs the check with the lowest priority. */
const TIMEOUT_MS = 20 * 60_000;

/**
 * Checks the deployed templates with AWS's own tools: cfn-lint and `sam validate --lint` on every template,
 * `sam build` with esbuild and without Docker, the expanded templates (resources, integrations, properties that SAM
 * ignores) and the sizes of the bundles. Exit code 1 if there is an issue. Needs Python; the first run downloads its
 * packages. `--brief` builds a sample of the functions, outside the folder that `sam deploy` uses.
 */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: { brief: { type: "boolean", default: false } } });
  await mkdir(CACHE, { recursive: true });
  const bin = join(await installSam(CACHE), "bin");
  const temporary = await mkdtemp(join(tmpdir(), "weft-sam-"));
  const metafiles = join(temporary, "metafiles");
  await mkdir(metafiles);
  try {
    const built = values.brief ? join(temporary, "build") : join(ROOT, ".aws-sam/build");
    return await check({ bin, metafiles, built }, values.brief);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function check(folders: Folders, isBrief: boolean): Promise<number> {
  const nested = (await readdir(STACKS)).map((name) => join(STACKS, name));
  const files = [MAIN, ...nested];
  const all = (await Promise.all(nested.map(buildsOf))).flat();
  const builds = isBrief ? samplesOf(all) : all;
  const issues: string[] = [];
  const step = async (name: string, program: string, ...argv: string[]): Promise<void> => {
    const start = performance.now();
    const { code, output } = await run(folders, program, argv, {
      WEFT_FUNCTIONS: isBrief ? ` ${builds.map(({ name }) => name).join(" ")} ` : "",
    });
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`${code === 0 ? "ok  " : "FAIL"} ${name} ${seconds}s`);
    if (code === 0) return;
    console.log(output);
    issues.push(name);
  };
  // Each of them uses one processor, and the build takes the longest.
  const steps = [
    () => step("sam build", "sam", "build", "--parallel", "--build-dir", folders.built, "-t", MAIN),
    () => step("cfn-lint", "cfn-lint", ...files),
    ...files.map(
      (file) => () => step(`sam validate --lint ${basename(file)}`, "sam", "validate", "--lint", "-t", file),
    ),
  ];
  const next = async (): Promise<void> => {
    for (let one = steps.shift(); one !== undefined; one = steps.shift()) await one();
  };
  await Promise.all(Array.from({ length: availableParallelism() }, next));
  if (issues.length > 0) return 1;

  issues.push(...(await findTemplateIssues(folders, files)));
  const bundles = await readBundles(builds, folders);
  for (const { size } of bundles.toSorted((left, right) => right.size.total - left.size.total)) {
    console.log(`     ${formatSize(size)}`);
    issues.push(...findSizeIssues(size));
  }
  const sizes = bundles.map(({ size }) => size);
  issues.push(...(isBrief ? [] : findAverageIssues(sizes)), ...(await findBuildIssues(bundles)));
  for (const issue of issues) console.log(`FAIL ${issue}`);
  console.log(sizesTable(sizes));
  if (issues.length === 0)
    console.log(`ok   resources of ${files.length} stacks, sizes of ${bundles.length} bundles`);
  return issues.length === 0 ? 0 : 1;
}

interface Folders {
  /** Programs of the virtual environment. */
  readonly bin: string;
  /** Where esbuild writes the contents of the bundles. */
  readonly metafiles: string;
  /** Where SAM builds the functions. */
  readonly built: string;
}

/**
 * Runs a program of the virtual environment through its Python: the program's own interpreter path is wrong in a
 * copied checkout. The programs find esbuild and npm on the path.
 */
function run(
  { bin, metafiles }: Folders,
  program: string,
  argv: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ code: number | null; output: string }> {
  const path = [
    PROGRAMS,
    bin,
    join(ROOT, "node_modules/.bin"),
    dirname(process.execPath),
    process.env.PATH ?? "",
  ];
  const child = spawn(join(bin, "python"), [resolve(bin, program), ...argv], {
    cwd: ROOT,
    env: {
      ...process.env,
      PATH: path.join(delimiter),
      WEFT_ESBUILD: join(ROOT, "node_modules/.bin/esbuild"),
      WEFT_METAFILES: metafiles,
      SAM_CLI_TELEMETRY: "0",
      // SAM would store its metadata in the home folder.
      __SAM_CLI_APP_DIR: join(CACHE, "weft-sam-settings"),
      AWS_DEFAULT_REGION: process.env.AWS_DEFAULT_REGION ?? "us-east-1",
      ...env,
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
async function findTemplateIssues(folders: Folders, files: readonly string[]): Promise<string[]> {
  const { code, output } = await run(folders, EXPAND, files);
  // The transform logs before the last line.
  const line = output.split("\n").find((text) => text.startsWith('{"'));
  if (code !== 0 || line === undefined) return [`SAM cannot expand the templates: ${output.slice(-4000)}`];
  const { sizes } = await generateFiles(ROOT);
  const services = servicesOf(await scanFunctions(ROOT));
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

interface NamedBuild extends FunctionBuild {
  /** `<stack>-<function>`, the name of its metafile. */
  readonly name: string;
  readonly stack: string;
}

/** The functions of a nested stack. */
async function buildsOf(file: string): Promise<NamedBuild[]> {
  const stack = `${toPascalCase(basename(file, ".yaml"))}Stack`;
  const builds = functionBuilds(await readFile(file, "utf8"), file);
  return builds.map((found) => ({ ...found, stack, name: `${stack}-${found.logicalId}` }));
}

interface Bundled {
  readonly found: FunctionBuild;
  readonly size: BundleSize;
  /** SAM's folder of the function. */
  readonly folder: string;
}

/** The bundles that SAM has built. */
async function readBundles(builds: readonly NamedBuild[], { metafiles, built }: Folders): Promise<Bundled[]> {
  const written = new Set(await readdir(metafiles));
  return Promise.all(
    builds.map(async (found) => {
      // SAM builds functions of the same code once.
      const options = JSON.stringify(found.options);
      const name = builds
        .filter((other) => JSON.stringify(other.options) === options)
        .map((other) => `${other.name}.json`)
        .find((one) => written.has(one));
      if (name === undefined) throw new Error(`sam build has not built ${found.logicalId}`);
      const metafile = JSON.parse(await readFile(join(metafiles, name), "utf8")) as Metafile;
      const folder = join(built, found.stack, found.logicalId);
      return { found, size: sizeOf(found, metafile), folder };
    }),
  );
}

/** Builds one function of each configuration as tests do, which must produce what SAM has built. */
async function findBuildIssues(bundles: readonly Bundled[]): Promise<string[]> {
  const issues: string[] = [];
  const samples = new Map(bundles.map((bundled) => [configurationOf(bundled.found), bundled]));
  const outdir = await mkdtemp(join(tmpdir(), "weft-bundles-"));
  try {
    for (const { found, folder } of samples.values()) {
      const { logicalId } = found;
      const { files } = await bundle(found, join(outdir, logicalId));
      const built = (await sizesIn(folder)).join(", ");
      const expected = [...files.values()].toSorted((left, right) => left - right).join(", ");
      if (built !== expected)
        issues.push(`${logicalId}: files of ${built} bytes from sam build, but ${expected} from esbuild`);
    }
  } finally {
    await rm(outdir, { recursive: true, force: true });
  }
  return issues;
}

/** Bytes of the files of a folder, without source maps. Names of chunks contain the path of the folder, as a hash. */
async function sizesIn(folder: string): Promise<number[]> {
  const names = (await readdir(folder)).filter((name) => !name.endsWith(".map"));
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.toSorted((left, right) => left - right);
}

if (import.meta.main) {
  process.exitCode = await main().catch((error: unknown) => {
    console.error(`FAIL ${error instanceof Error ? error.message : error}`);
    return 1;
  });
}
