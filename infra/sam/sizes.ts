import type { BundleSize } from "./bundles.ts";

const KB = 1024;
interface Limits {
  /** Maximum of own code and zod, bytes. */
  readonly ours: number;
  /** Maximum of the whole bundle without its source map, bytes. */
  readonly whole: number;
}

const USUAL: Limits = { ours: 380 * KB, whole: 935 * KB };
/**
 * The conductor also handles the script API: its bundle contains the code that reads and writes records and
 * documents, creates runs, and Lambda's client, which invokes the converter.
 */
const CONDUCTOR: Limits = { ours: 430 * KB, whole: 1115 * KB };
/**
 * The functions that store workflows contain the YAML parser, the whole workflow schema with its linter, cron
 * expressions with their date library, the indexes, and the clients of every service.
 */
const LARGER: readonly { readonly packages: readonly string[]; readonly limits: Limits }[] = [
  { packages: ["yaml"], limits: { ours: 410 * KB, whole: 1180 * KB } },
  // Cron expressions need a date library.
  { packages: ["luxon"], limits: { ours: 350 * KB, whole: 1005 * KB } },
  // Language models need their API's client, which is not tree-shakable.
  { packages: ["openai"], limits: { ours: 350 * KB, whole: 1065 * KB } },
  // Mails need SMTP and MIME, and the parameter store's client.
  { packages: ["nodemailer"], limits: { ours: 312 * KB, whole: 1085 * KB } },
  // Conversion needs Lambda's client, whose schemas are not tree-shakable.
  { packages: ["@aws-sdk/client-lambda"], limits: { ours: 342 * KB, whole: 1108 * KB } },
];

/** The converter contains the whole editor and a DOM, which no other function does. */
const CONVERTER = "ConverterFunction";
/** Functions whose bundle contains the OpenAPI document. */
const WITH_OPENAPI: Limits = { ours: 325 * KB, whole: 1100 * KB };
const NAMED: ReadonlyMap<string, Limits> = new Map([
  ["ConductFunction", CONDUCTOR],
  ["GetOpenApiFunction", WITH_OPENAPI],
  ["GetApiPageFunction", WITH_OPENAPI],
  [CONVERTER, { ours: 60 * KB, whole: 6_500 * KB }],
]);

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
export function sizeFaults(size: BundleSize): string[] {
  const { logicalId, own, packages, whole, asked, node } = size;
  const faults: string[] = [];
  const ours = own + (packages.get("zod") ?? 0);
  const limits = limitsOf(size);
  if (ours > limits.ours)
    faults.push(`${logicalId}: own code and zod ${inKb(ours)}, at most ${inKb(limits.ours)}`);
  if (whole > limits.whole) faults.push(`${logicalId}: ${inKb(whole)}, at most ${inKb(limits.whole)}`);
  const scripts = codeBeside(size);
  if (scripts > SCRIPTS_LIMIT)
    faults.push(`${logicalId}: code of scripts ${inKb(scripts)}, at most ${inKb(SCRIPTS_LIMIT)}`);
  // It would not exist, and its path would depend on the build's folder.
  for (const path of asked.filter((path) => /^[./]/.test(path)))
    faults.push(`${logicalId}: imports the file ${path}, which is not in the bundle`);
  for (const name of packages.keys())
    if (FOREIGN_PACKAGES.has(name)) faults.push(`${logicalId}: contains ${name}, which no function needs`);
  for (const name of logicalId === CONVERTER ? [] : node)
    if (FOREIGN_MODULES.has(name)) faults.push(`${logicalId}: imports ${name}, which no function needs`);
  return faults;
}

function limitsOf({ logicalId, packages }: BundleSize): Limits {
  const larger = LARGER.find((one) => one.packages.some((name) => packages.has(name)));
  const isNotFound = logicalId.startsWith("DocumentsNotFound");
  return NAMED.get(logicalId) ?? (isNotFound ? WITH_OPENAPI : undefined) ?? larger?.limits ?? USUAL;
}

/** Excludes Web Assembly. */
function codeBeside({ parts }: BundleSize): number {
  return [...parts].reduce((sum, [name, bytes]) => sum + (name.endsWith(".wasm") ? 0 : bytes), 0);
}

/** One line with the size of a bundle and of its parts. */
export function sizeLine(size: BundleSize): string {
  const { logicalId, whole, own, packages, parts } = size;
  const zod = packages.get("zod") ?? 0;
  const named = new Set(LARGER.flatMap((one) => one.packages));
  const extra = [...packages].filter(([name]) => named.has(name));
  const more = extra.map(([name, bytes]) => `, ${name} ${inKb(bytes)}`).join("");
  const scripts = parts.size === 0 ? "" : `; beside it ${inKb(codeBeside(size))} and Web Assembly`;
  return `${logicalId}: ${inKb(whole)} (ours ${inKb(own)}, zod ${inKb(zod)}${more}${scripts})`;
}

function inKb(bytes: number): string {
  return `${(bytes / KB).toFixed(1)} kB`;
}
