import type { BundleSize } from "./bundles.ts";

const KB = 1024;
/** Maximum of what a function loads when it starts, without source maps, bytes. */
const START_LIMIT = 500 * KB;
/** The first entry with a package of the bundle applies. */
const LIMITS_BY_PACKAGE: readonly { readonly package: string; readonly limit: number }[] = [
  // AI SDK's providers use zod as one object: all of zod with its 50 languages is in one chunk.
  { package: "ai", limit: 720 * KB },
  // Storing workflows needs the YAML parser, the workflow schema with its linter, and cron expressions.
  { package: "yaml", limit: 700 * KB },
];

/** The converter contains the whole editor and a DOM, which no other function does. */
const CONVERTER = "ConverterFunction";
const LIMITS_BY_FUNCTION: ReadonlyMap<string, number> = new Map([
  // It contains most routes of the documents, an OpenID Connect client, and Yjs.
  ["ExternalApiFunction", 650 * KB],
  [CONVERTER, 6000 * KB],
]);

/** Maximum of the average over all functions, with the converter, bytes. */
const AVERAGE_LIMIT = 400 * KB;

/** Lambda's limit of a function's unzipped code, bytes. */
const UNZIPPED_LIMIT = 250 * KB * KB;
/** Maximum of the code beside a bundle that evaluates scripts, bytes: threads load it with the first script. */
const SCRIPTS_LIMIT = 320 * KB;

/** Packages that must not be in a function: they belong to the local platform, or are Web Assembly. */
const FOREIGN_PACKAGES: ReadonlySet<string> = new Set([
  "chokidar",
  "readdirp",
  "quickjs-wasi",
  "jq-wasm",
  "hono",
  "@hono/node-server",
  "esbuild",
  "dockerode",
  "ssh2",
]);
const FOREIGN_MODULES: ReadonlySet<string> = new Set([
  "node:sqlite",
  "node:worker_threads",
  "node:child_process",
]);

/** Issues of a function's bundle, one line each. */
export function findSizeIssues(size: BundleSize): string[] {
  const { logicalId, contents, total, imports: asked, nodeModules: node } = size;
  const issues: string[] = [];
  const limit = limitOf(size);
  if (total > limit)
    issues.push(`${logicalId}: loads ${formatKb(total)} when it starts, at most ${formatKb(limit)}`);
  const scripts = scriptsSize(size);
  if (scripts > SCRIPTS_LIMIT)
    issues.push(`${logicalId}: code of scripts ${formatKb(scripts)}, at most ${formatKb(SCRIPTS_LIMIT)}`);
  const unzipped = sumOf(size.files);
  if (unzipped > UNZIPPED_LIMIT)
    issues.push(`${logicalId}: ${formatKb(unzipped)} unzipped, at most ${formatKb(UNZIPPED_LIMIT)}`);
  // It would not exist, and its path would depend on the build's folder.
  for (const path of asked.filter((path) => /^[./]/.test(path)))
    issues.push(`${logicalId}: imports the file ${path}, which is not in the bundle`);
  for (const name of contents)
    if (FOREIGN_PACKAGES.has(name)) issues.push(`${logicalId}: contains ${name}, which no function needs`);
  for (const name of logicalId === CONVERTER ? [] : node)
    if (FOREIGN_MODULES.has(name)) issues.push(`${logicalId}: imports ${name}, which no function needs`);
  return issues;
}

const limitOf = ({ logicalId, contents }: BundleSize): number =>
  LIMITS_BY_FUNCTION.get(logicalId) ??
  LIMITS_BY_PACKAGE.find((one) => contents.has(one.package))?.limit ??
  START_LIMIT;

/** Web Assembly and native code. */
const BINARY = /\.(?:wasm|node)$/;

/** Excludes binaries. */
function scriptsSize({ beside }: BundleSize): number {
  return sumOf([...beside].filter(([name]) => !BINARY.test(name)));
}

const sumOf = (parts: Iterable<readonly [string, number]>): number =>
  [...parts].reduce((sum, [, bytes]) => sum + bytes, 0);

const HEAD = [
  "Kind",
  "Functions",
  "Loaded at start, average",
  "At most",
  "With DynamoDB's SDK, average",
  "Whole package, average",
  "At most",
];

/** The sizes by kind of function, as a table in Markdown. Packages are without source maps and binaries. */
export function sizesTable(sizes: readonly BundleSize[]): string {
  const kinds = Map.groupBy(sizes, ({ kind }) => kind);
  const rows = [...kinds, ["all", sizes] as const].map(([kind, own]) => {
    const packages = own.map(packageSize);
    const figures = [
      averageOf(own.map(({ total }) => total)),
      Math.max(...own.map(({ total }) => total)),
      averageOf(own.map(({ withTables }) => withTables)),
      averageOf(packages),
      Math.max(...packages),
    ];
    return [kind, `${own.length}`, ...figures.map(formatKb)];
  });
  return [HEAD, HEAD.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

const packageSize = ({ files }: BundleSize): number =>
  sumOf([...files].filter(([name]) => !BINARY.test(name)));

/** Issues of all bundles together. */
export function findAverageIssues(sizes: readonly BundleSize[]): string[] {
  const average = averageOf(sizes.map(({ total }) => total));
  if (average <= AVERAGE_LIMIT) return [];
  return [`the average bundle has ${formatKb(average)}, at most ${formatKb(AVERAGE_LIMIT)}`];
}

const averageOf = (figures: readonly number[]): number =>
  figures.reduce((sum, figure) => sum + figure, 0) / Math.max(1, figures.length);

/** One line with the size of a bundle and of its parts. */
export function formatSize(size: BundleSize): string {
  const { logicalId, total, own, packages, withTables, later, beside } = size;
  const largest = [...packages].toSorted(([, one], [, other]) => other - one).slice(0, 3);
  const parts = [["ours", own] as const, ...largest].map(([name, bytes]) => `${name} ${formatKb(bytes)}`);
  const code = scriptsSize(size);
  const scripts =
    beside.size === 0 ? "" : `; for scripts ${formatKb(code)}, binaries ${formatKb(sumOf(beside) - code)}`;
  const used = `with DynamoDB's SDK ${formatKb(withTables)}; on first use ${formatKb(later)}`;
  return `${logicalId}: ${formatKb(total)} (${parts.join(", ")}), ${used}${scripts}`;
}

function formatKb(bytes: number): string {
  return `${(bytes / KB).toFixed(1)} kB`;
}
