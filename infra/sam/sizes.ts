import type { BundleSize } from "./bundles.ts";

const KB = 1024;
interface Limits {
  /** Maximum of own code and zod, bytes. */
  readonly own: number;
  /** Maximum of the whole bundle without its source map, bytes. */
  readonly total: number;
}

const DEFAULT_LIMITS: Limits = { own: 410 * KB, total: 965 * KB };
/**
 * The conductor also handles the script API: its bundle contains the code that reads and writes records and
 * documents, creates runs, Yjs, and Lambda's client, which invokes the converter.
 */
const CONDUCTOR_LIMITS: Limits = { own: 500 * KB, total: 1285 * KB };
/** The first entry with a package of the bundle applies. */
const LIMITS_BY_PACKAGE: readonly { readonly packages: readonly string[]; readonly limits: Limits }[] = [
  // AI SDK is not tree-shakable, and loads all of zod.
  { packages: ["ai"], limits: { own: 755 * KB, total: 2320 * KB } },
  // Storing workflows needs the YAML parser, the workflow schema with its linter, cron expressions with their date
  // library, the indexes, and the clients of every service.
  { packages: ["yaml"], limits: { own: 435 * KB, total: 1210 * KB } },
  // Cron expressions need a date library.
  { packages: ["luxon"], limits: { own: 380 * KB, total: 1035 * KB } },
  // Language models need their API's client, which is not tree-shakable.
  { packages: ["openai"], limits: { own: 380 * KB, total: 1095 * KB } },
  // Login needs an OpenID Connect client.
  { packages: ["openid-client"], limits: { own: 390 * KB, total: 1020 * KB } },
  // Uploads need a parser of forms, and the signatures of types of files.
  { packages: ["file-type"], limits: { own: 405 * KB, total: 1070 * KB } },
  // Mails need SMTP and MIME, the parameter store's client, and the notifications in them.
  { packages: ["nodemailer"], limits: { own: 360 * KB, total: 1135 * KB } },
  // Conversion needs Lambda's client, whose schemas are not tree-shakable, and merging needs Yjs.
  { packages: ["@aws-sdk/client-lambda"], limits: { own: 425 * KB, total: 1285 * KB } },
  // The content of documents needs Yjs.
  { packages: ["yjs"], limits: { own: 415 * KB, total: 1055 * KB } },
];

/** The converter contains the whole editor and a DOM, which no other function does. */
const CONVERTER = "ConverterFunction";
/** Functions that return (parts of) the OpenAPI document contain it. */
const OPENAPI_LIMITS: Limits = { own: 355 * KB, total: 1210 * KB };
const LIMITS_BY_FUNCTION: ReadonlyMap<string, Limits> = new Map([
  ["ConductFunction", CONDUCTOR_LIMITS],
  ["GetOpenApiFunction", OPENAPI_LIMITS],
  // It contains most routes of the documents, an OpenID Connect client, Yjs, and Lambda's client.
  ["ExternalApiFunction", { own: 530 * KB, total: 1550 * KB }],
  // It contains Swagger UI as text: the files of the API reference page.
  ["GetApiPageFileFunction", { own: 355 * KB, total: 2850 * KB }],
  [CONVERTER, { own: 60 * KB, total: 6_500 * KB }],
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
export function findSizeIssues(size: BundleSize): string[] {
  const { logicalId, own, packages, total: whole, imports: asked, nodeModules: node } = size;
  const issues: string[] = [];
  const ours = own + (packages.get("zod") ?? 0);
  const limits = limitsOf(size);
  if (ours > limits.own)
    issues.push(`${logicalId}: own code and zod ${formatKb(ours)}, at most ${formatKb(limits.own)}`);
  if (whole > limits.total)
    issues.push(`${logicalId}: ${formatKb(whole)}, at most ${formatKb(limits.total)}`);
  const scripts = scriptsSize(size);
  if (scripts > SCRIPTS_LIMIT)
    issues.push(`${logicalId}: code of scripts ${formatKb(scripts)}, at most ${formatKb(SCRIPTS_LIMIT)}`);
  // It would not exist, and its path would depend on the build's folder.
  for (const path of asked.filter((path) => /^[./]/.test(path)))
    issues.push(`${logicalId}: imports the file ${path}, which is not in the bundle`);
  for (const name of packages.keys())
    if (FOREIGN_PACKAGES.has(name)) issues.push(`${logicalId}: contains ${name}, which no function needs`);
  for (const name of logicalId === CONVERTER ? [] : node)
    if (FOREIGN_MODULES.has(name)) issues.push(`${logicalId}: imports ${name}, which no function needs`);
  return issues;
}

function limitsOf({ logicalId, packages }: BundleSize): Limits {
  const larger = LIMITS_BY_PACKAGE.find((one) => one.packages.some((name) => packages.has(name)));
  const isNotFound = logicalId.startsWith("DocumentsNotFound");
  return (
    LIMITS_BY_FUNCTION.get(logicalId) ??
    (isNotFound ? OPENAPI_LIMITS : undefined) ??
    larger?.limits ??
    DEFAULT_LIMITS
  );
}

/** Excludes Web Assembly. */
function scriptsSize({ parts }: BundleSize): number {
  return [...parts].reduce((sum, [name, bytes]) => sum + (name.endsWith(".wasm") ? 0 : bytes), 0);
}

/** One line with the size of a bundle and of its parts. */
export function formatSize(size: BundleSize): string {
  const { logicalId, total: whole, own, packages, parts } = size;
  const zod = packages.get("zod") ?? 0;
  const named = new Set(LIMITS_BY_PACKAGE.flatMap((one) => one.packages));
  const extra = [...packages].filter(([name]) => named.has(name));
  const more = extra.map(([name, bytes]) => `, ${name} ${formatKb(bytes)}`).join("");
  const scripts = parts.size === 0 ? "" : `; beside it ${formatKb(scriptsSize(size))} and Web Assembly`;
  return `${logicalId}: ${formatKb(whole)} (ours ${formatKb(own)}, zod ${formatKb(zod)}${more}${scripts})`;
}

function formatKb(bytes: number): string {
  return `${(bytes / KB).toFixed(1)} kB`;
}
