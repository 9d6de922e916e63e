import type { BundleSize } from "./bundles.ts";

const KB = 1024;
/** Of our own code and zod in one function. */
const OWN_MAX_BYTES = 200 * KB;
/** Of a whole function, without its source map. */
const WHOLE_MAX_BYTES = 700 * KB;
/** Executors of users' code hold every step type and the lexer of shells; Lambda runs none of them by itself. */
const WORKER_MAX_BYTES = 730 * KB;
/** Packages that a function cannot do without which parses workflows, or works out when schedules fire. */
const UNAVOIDABLE: ReadonlySet<string> = new Set(["yaml", "cron-parser", "luxon"]);
const PARSER_MAX_BYTES = 950 * KB;

/** What must never be in a function: it belongs to the platform on one machine, or is Web Assembly beside it. */
const FOREIGN_PACKAGES: ReadonlySet<string> = new Set([
  "chokidar",
  "readdirp",
  "quickjs-wasi",
  "jq-wasm",
  "hono",
  "@hono/node-server",
  "esbuild",
]);
const FOREIGN_MODULES: ReadonlySet<string> = new Set([
  "node:sqlite",
  "node:worker_threads",
  "node:child_process",
]);

/** What is wrong with the bundle of a function, one line each. */
export function sizeFaults(size: BundleSize, isWorker: boolean): string[] {
  const { logicalId, own, packages, whole, node } = size;
  const faults: string[] = [];
  const ours = own + (packages.get("zod") ?? 0);
  const max = wholeMax(packages, isWorker);
  if (ours > OWN_MAX_BYTES)
    faults.push(`${logicalId}: our code and zod ${inKb(ours)}, at most ${inKb(OWN_MAX_BYTES)}`);
  if (whole > max) faults.push(`${logicalId}: ${inKb(whole)}, at most ${inKb(max)}`);
  for (const name of packages.keys())
    if (FOREIGN_PACKAGES.has(name)) faults.push(`${logicalId}: holds ${name}, which no function needs`);
  for (const name of node)
    if (FOREIGN_MODULES.has(name)) faults.push(`${logicalId}: asks for ${name}, which no function needs`);
  return faults;
}

function wholeMax(packages: BundleSize["packages"], isWorker: boolean): number {
  if ([...packages.keys()].some((name) => UNAVOIDABLE.has(name))) return PARSER_MAX_BYTES;
  return isWorker ? WORKER_MAX_BYTES : WHOLE_MAX_BYTES;
}

/** A line that tells how large a bundle is, and of what. */
export function sizeLine({ logicalId, whole, own, packages }: BundleSize): string {
  const zod = packages.get("zod") ?? 0;
  const extra = [...packages].filter(([name]) => UNAVOIDABLE.has(name));
  const more = extra.map(([name, bytes]) => `, ${name} ${inKb(bytes)}`).join("");
  return `${logicalId}: ${inKb(whole)} (ours ${inKb(own)}, zod ${inKb(zod)}${more})`;
}

function inKb(bytes: number): string {
  return `${(bytes / KB).toFixed(1)} kB`;
}
