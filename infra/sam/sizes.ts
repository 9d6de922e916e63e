import type { BundleSize } from "./bundles.ts";

const KB = 1024;
interface Limits {
  /** Maximum of own code and zod, bytes. */
  readonly own: number;
  /** Maximum of the whole bundle without its source map, bytes. */
  readonly total: number;
}

const DEFAULT_LIMITS: Limits = { own: 430 * KB, total: 995 * KB };
/**
 * The conductor also handles the script API: its bundle contains the code that reads and writes records and
 * documents, creates runs, and Yjs.
 */
const CONDUCTOR_LIMITS: Limits = { own: 510 * KB, total: 1095 * KB };
/** The first entry with a package of the bundle applies. */
const LIMITS_BY_PACKAGE: readonly { readonly packages: readonly string[]; readonly limits: Limits }[] = [
  // AI SDK's providers load all of zod with its 50 languages, 450 kB, and each provider is one object.
  { packages: ["ai"], limits: { own: 765 * KB, total: 2140 * KB } },
  // Storing workflows needs the YAML parser, the workflow schema with its linter, cron expressions with their date
  // library, the indexes, and the clients of every service.
  { packages: ["yaml"], limits: { own: 455 * KB, total: 1240 * KB } },
  // Cron expressions need a date library.
  { packages: ["luxon"], limits: { own: 390 * KB, total: 1070 * KB } },
  // Language models need their API's client, which is not tree-shakable.
  { packages: ["openai"], limits: { own: 390 * KB, total: 1125 * KB } },
  // Login needs an OpenID Connect client.
  { packages: ["openid-client"], limits: { own: 400 * KB, total: 1050 * KB } },
  // Uploads need a parser of forms, and the signatures of types of files.
  { packages: ["file-type"], limits: { own: 430 * KB, total: 1110 * KB } },
  // Mails need SMTP and MIME, the parameter store's client, and the notifications in them.
  { packages: ["nodemailer"], limits: { own: 380 * KB, total: 1170 * KB } },
  // The content of documents needs Yjs.
  { packages: ["yjs"], limits: { own: 440 * KB, total: 1105 * KB } },
];

/** The converter contains the whole editor and a DOM, which no other function does. */
const CONVERTER = "ConverterFunction";
/** The renderer contains the writers of all formats. Typst's library, 52 MB, is beside it. */
const RENDERER = "RendererFunction";
/** Functions that return (parts of) the OpenAPI document contain it. */
const OPENAPI_LIMITS: Limits = { own: 365 * KB, total: 1255 * KB };
const LIMITS_BY_FUNCTION: ReadonlyMap<string, Limits> = new Map([
  ["ConductFunction", CONDUCTOR_LIMITS],
  ["GetOpenApiFunction", OPENAPI_LIMITS],
  // It contains most routes of the documents, an OpenID Connect client, and Yjs.
  ["ExternalApiFunction", { own: 540 * KB, total: 1370 * KB }],
  // It contains Swagger UI as text: the files of the API reference page.
  ["GetApiPageFileFunction", { own: 365 * KB, total: 2850 * KB }],
  [CONVERTER, { own: 70 * KB, total: 6700 * KB }],
  [RENDERER, { own: 60 * KB, total: 720 * KB }],
]);

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
  const unzipped = whole + sumOf(size.parts);
  if (unzipped > UNZIPPED_LIMIT)
    issues.push(`${logicalId}: ${formatKb(unzipped)} unzipped, at most ${formatKb(UNZIPPED_LIMIT)}`);
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

/** Web Assembly and native code. */
const BINARY = /\.(?:wasm|node)$/;

/** Excludes binaries. */
function scriptsSize({ parts }: BundleSize): number {
  return sumOf([...parts].filter(([name]) => !BINARY.test(name)));
}

const sumOf = (parts: Iterable<readonly [string, number]>): number =>
  [...parts].reduce((sum, [, bytes]) => sum + bytes, 0);

/** One line with the size of a bundle and of its parts. */
export function formatSize(size: BundleSize): string {
  const { logicalId, total: whole, own, packages, parts } = size;
  const zod = packages.get("zod") ?? 0;
  const named = new Set(LIMITS_BY_PACKAGE.flatMap((one) => one.packages));
  const extra = [...packages].filter(([name]) => named.has(name));
  const more = extra.map(([name, bytes]) => `, ${name} ${formatKb(bytes)}`).join("");
  const code = scriptsSize(size);
  const beside =
    parts.size === 0 ? "" : `; beside it ${formatKb(code)} and binaries ${formatKb(sumOf(parts) - code)}`;
  return `${logicalId}: ${formatKb(whole)} (ours ${formatKb(own)}, zod ${formatKb(zod)}${more}${beside})`;
}

function formatKb(bytes: number): string {
  return `${(bytes / KB).toFixed(1)} kB`;
}
