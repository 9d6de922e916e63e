/** The folder of the functions, from that of a nested template. It has no package.json: SAM then bundles in place. */
export const CODE_FOLDER = "../../functions/";

/** CommonJS packages inside an ES module bundle call `require`, which such a module lacks. */
const REQUIRE_BANNER =
  "js=import { createRequire as weftCreateRequire } from 'node:module'; const require = weftCreateRequire(import.meta.url);";

/** Sources of credentials that a function never asks: Lambda's lie in the environment. */
const UNUSED_PACKAGES = [
  "@aws-sdk/credential-provider-http",
  "@aws-sdk/credential-provider-ini",
  "@aws-sdk/credential-provider-process",
  "@aws-sdk/credential-provider-sso",
  "@aws-sdk/credential-provider-web-identity",
  "@smithy/credential-provider-imds",
] as const;

/** Packages that are only loaded by functions of these files; elsewhere nothing comes to what would load them. */
const OWN_PACKAGES: Readonly<Record<string, RegExp>> = {
  // A step is executed by the function of its type; many at once are a worker's.
  openai: /(?:^|\/)llm(?:\/|\.ts$)/,
  nodemailer: /(?:^|\/)send-mail\.ts$/,
  // By its name in imports: a path would be written into each bundle, and differ with the folder it is made in.
  // Content is converted for readers, for servers and for scripts.
  "#lib/platform/aws/lambda-invoke.ts":
    /(?:^|\/)(?:content\/formatted|documents\/create-for-owner|consumers\/conduct)\.ts$/,
};

/** What opens AWS's dependencies without `import()`: with the parameter store, without it, for executors of steps. */
const OPENERS = {
  stored: "deps-lambda.ts",
  inner: "deps-lambda-inner.ts",
  executor: "deps-lambda-executor.ts",
} as const;

/** How SAM has esbuild bundle a function. The ES modules of a package leave out what nobody uses of it. */
const ESBUILD = {
  Format: "esm",
  MainFields: "module,main",
  Target: "node24",
  Minify: true,
  Sourcemap: true,
  SourcesContent: "false",
  OutExtension: [".js=.mjs"],
  Banner: [REQUIRE_BANNER],
} as const;

/** What evaluates scripts: bundles of their own and Web Assembly, all in one folder with the function's. */
const SCRIPT_PARTS = [
  "../lib/platform/aws/scripts-pool.ts",
  "../lib/platform/scripts/script-worker.ts",
  "../lib/workflows/script-library/library-without-files.ts",
  "../node_modules/quickjs-wasi/quickjs.wasm",
  "../node_modules/jq-wasm/dist/build/jq.wasm",
] as const;

/** How SAM has esbuild bundle the function of this file, and what evaluates scripts beside it where it does so. */
export function buildProperties(
  entry: string,
  options: {
    readonly scripts?: boolean;
    readonly opener?: keyof typeof OPENERS;
  } = {},
): Readonly<Record<string, unknown>> {
  const own = codeEntry(entry);
  const build = {
    ...ESBUILD,
    External: [...UNUSED_PACKAGES, ...foreignPackages(own)],
    // By the folder that esbuild is called in.
    Alias: [`#lib/deps.ts=../lib/${OPENERS[options.opener ?? "inner"]}`],
  };
  if (options.scripts !== true) return { EntryPoints: [own], ...build };
  return {
    EntryPoints: [own, ...SCRIPT_PARTS],
    ...build,
    EntryNames: "[name]",
    Loader: [".wasm=copy"],
  };
}

function foreignPackages(entry: string): string[] {
  return Object.entries(OWN_PACKAGES)
    .filter(([, files]) => !files.test(entry))
    .map(([name]) => name);
}

/** A function's file, from the folder of the functions. */
function codeEntry(entry: string): string {
  return entry.replace(/^functions\//, "");
}

/** jsdom asks where a program of its own lies, for requests that nobody makes here. */
const CONVERTER_BANNER = `${REQUIRE_BANNER} require.resolve = (name) => name;`;
/** Parts of jsdom's that are only used where they are installed. */
const NOT_INSTALLED = ["canvas", "bufferutil", "utf-8-validate"];

/** How the function that converts content is bundled: with the editor's package, and without the services. */
export function converterBuild(entry: string): Readonly<Record<string, unknown>> {
  return {
    EntryPoints: [entry],
    ...ESBUILD,
    Banner: [CONVERTER_BANNER],
    External: [...UNUSED_PACKAGES, ...NOT_INSTALLED],
  };
}
