import type { BundleSize } from "./bundles.ts";

const KB = 1024;
interface Limits {
  /** Of our own code and zod, bytes. */
  readonly ours: number;
  /** Of the whole bundle without its source map, bytes. */
  readonly whole: number;
}

const USUAL: Limits = { ours: 380 * KB, whole: 935 * KB };
/**
 * The conductor answers what scripts ask, too: it holds what reads and writes records and documents, what makes runs,
 * and Lambda's client, which has content converted.
 */
const CONDUCTOR: Limits = { ours: 430 * KB, whole: 1115 * KB };
/**
 * The function that stores workflows cannot do with less: it holds the parser of YAML, the whole schema of
 * workflows with its linter, cron expressions with their library of dates, the indexes, and the clients of every
 * service.
 */
const LARGER: readonly { readonly packages: readonly string[]; readonly limits: Limits }[] = [
  { packages: ["yaml"], limits: { ours: 410 * KB, whole: 1180 * KB } },
  // Cron expressions bring a library of dates.
  { packages: ["luxon"], limits: { ours: 350 * KB, whole: 1005 * KB } },
  // What asks language models holds the whole client of their API, which cannot be taken apart.
  { packages: ["openai"], limits: { ours: 350 * KB, whole: 1065 * KB } },
  // What sends mails holds the whole of SMTP and MIME, with the parameter store's client.
  { packages: ["nodemailer"], limits: { ours: 312 * KB, whole: 1085 * KB } },
  // What has content converted holds Lambda's client, whose schemas cannot be taken apart.
  { packages: ["@aws-sdk/client-lambda"], limits: { ours: 342 * KB, whole: 1108 * KB } },
];

/** What converts content holds the whole editor and a DOM: nothing of it is in any other function. */
const CONVERTER = "ConverterFunction";
/** Functions whose bundle contains the OpenAPI document. */
const WITH_OPENAPI: Limits = { ours: 325 * KB, whole: 1100 * KB };
const NAMED: ReadonlyMap<string, Limits> = new Map([
  ["ConductFunction", CONDUCTOR],
  ["GetOpenApiFunction", WITH_OPENAPI],
  ["GetApiPageFunction", WITH_OPENAPI],
  [CONVERTER, { ours: 60 * KB, whole: 6_500 * KB }],
]);

/** Of all the code beside a bundle that evaluates scripts, bytes: it is loaded by threads, with the first script. */
const SCRIPTS_LIMIT = 320 * KB;

/** What must never be in a function: it belongs to the platform on one machine, or is Web Assembly beside it. */
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

/** What is wrong with the bundle of a function, one line each. */
export function sizeFaults(size: BundleSize): string[] {
  const { logicalId, own, packages, whole, asked, node } = size;
  const faults: string[] = [];
  const ours = own + (packages.get("zod") ?? 0);
  const limits = limitsOf(size);
  if (ours > limits.ours)
    faults.push(`${logicalId}: our code and zod ${inKb(ours)}, at most ${inKb(limits.ours)}`);
  if (whole > limits.whole) faults.push(`${logicalId}: ${inKb(whole)}, at most ${inKb(limits.whole)}`);
  const scripts = codeBeside(size);
  if (scripts > SCRIPTS_LIMIT)
    faults.push(`${logicalId}: code of scripts ${inKb(scripts)}, at most ${inKb(SCRIPTS_LIMIT)}`);
  // It would not be there, and be written as the way from the folder that the bundle is made in.
  for (const path of asked.filter((path) => /^[./]/.test(path)))
    faults.push(`${logicalId}: asks for the file ${path}, which is not in the bundle`);
  for (const name of packages.keys())
    if (FOREIGN_PACKAGES.has(name)) faults.push(`${logicalId}: holds ${name}, which no function needs`);
  for (const name of logicalId === CONVERTER ? [] : node)
    if (FOREIGN_MODULES.has(name)) faults.push(`${logicalId}: asks for ${name}, which no function needs`);
  return faults;
}

function limitsOf({ logicalId, packages }: BundleSize): Limits {
  const larger = LARGER.find((one) => one.packages.some((name) => packages.has(name)));
  const isNotFound = logicalId.startsWith("DocumentsNotFound");
  return NAMED.get(logicalId) ?? (isNotFound ? WITH_OPENAPI : undefined) ?? larger?.limits ?? USUAL;
}

/** Without Web Assembly. */
function codeBeside({ parts }: BundleSize): number {
  return [...parts].reduce((sum, [name, bytes]) => sum + (name.endsWith(".wasm") ? 0 : bytes), 0);
}

/** A line that tells how large a bundle is, and of what. */
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
