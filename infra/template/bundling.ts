import { OPTIONAL_PACKAGES } from "../../lib/conversion/editor-packages.ts";

/** The folder of the functions, relative to a nested template. It has no package.json, so SAM bundles in place. */
export const CODE_FOLDER = "../../functions/";

/** CommonJS packages in an ES module bundle call `require`, which such a module does not have. */
const REQUIRE_BANNER =
  "js=import { createRequire as weftCreateRequire } from 'node:module'; const require = weftCreateRequire(import.meta.url);";

/** Packages of the SDK that a function does not use: Lambda's credentials are in its environment, bowser is for browsers. */
const UNUSED_PACKAGES = [
  "@aws-sdk/credential-provider-http",
  "@aws-sdk/credential-provider-ini",
  "@aws-sdk/credential-provider-process",
  "@aws-sdk/credential-provider-sso",
  "@aws-sdk/credential-provider-web-identity",
  "@smithy/credential-provider-imds",
  "bowser",
] as const;

/** Packages that only the functions in these files load; the others never reach the code that imports them. */
const OWN_PACKAGES: Readonly<Record<string, RegExp>> = {
  // One function executes the steps of a type; only workers execute several types.
  openai: /(?:^|\/)llm(?:\/|\.ts$)/,
  nodemailer: /(?:^|\/)send-mail\.ts$/,
};

/** The AWS adapter without `import()`: every function opens it. It loads the SDK of each service on its first use. */
const BUNDLED_ADAPTER = "#lib/platform/aws/open.ts=../lib/platform/aws/open-bundled.ts";

/** The page's files are in a chunk of the function that serves them: a function has no node_modules. */
const BUNDLED_PAGE_FILES = "#lib/http/api-page-files.ts=../lib/http/api-page-files-bundled.ts";

/** SAM's esbuild options for a function. The ES modules of a package are tree-shaken. */
const ESBUILD = {
  Format: "esm",
  // What `import()` loads is a chunk beside the bundle (infra/decisions/0256).
  Splitting: true,
  MainFields: "module,main",
  Target: "node24",
  Minify: true,
  Sourcemap: true,
  SourcesContent: "false",
  OutExtension: [".js=.mjs"],
  Banner: [REQUIRE_BANNER],
} as const;

/** The script evaluator: its own bundles and Web Assembly, in the function's folder. */
const SCRIPT_PARTS = [
  "../lib/platform/aws/scripts-pool.ts",
  "../lib/platform/scripts/script-worker.ts",
  "../lib/workflows/script-library/library-without-files.ts",
  "../node_modules/quickjs-wasi/quickjs.wasm",
  "../node_modules/jq-wasm/dist/build/jq.wasm",
] as const;

/** SAM's esbuild options for the function in this file, and for the script evaluator beside it, if it has one. */
export function buildProperties(
  entry: string,
  options: { readonly scripts?: boolean } = {},
): Readonly<Record<string, unknown>> {
  const own = codeEntry(entry);
  const build = {
    ...ESBUILD,
    External: [...UNUSED_PACKAGES, ...foreignPackages(own)],
    // Relative to esbuild's working directory.
    Alias: own.endsWith("/api-page-file.ts") ? [BUNDLED_ADAPTER, BUNDLED_PAGE_FILES] : [BUNDLED_ADAPTER],
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

/** A function's file, relative to the folder of the functions. */
function codeEntry(entry: string): string {
  return entry.replace(/^functions\//, "");
}

/** jsdom resolves its worker's path at import, for requests that are never made here. */
const CONVERTER_BANNER = `${REQUIRE_BANNER} require.resolve = (name) => name;`;
/** Optional dependencies of jsdom. */
const NOT_INSTALLED = ["canvas", "bufferutil", "utf-8-validate"];

/** The editor's writer of PDF requires the metrics of fonts by names that a bundle cannot resolve. */
const PDF_WRITER = ["@blocknote/xl-pdf-exporter", "@react-pdf/renderer"];

/** Lambda's system, whatever the machine that builds: `npm ci` installs only the package of its own system. */
const TYPST_PACKAGE = "@myriaddreamin/typst-ts-node-compiler";
const TYPST_BINARY = `../node_modules/${TYPST_PACKAGE}-linux-x64-gnu/typst-ts-node-compiler.linux-x64-gnu.node`;

/** esbuild options of the renderer: it contains the writers of all formats, and Typst beside it. */
export function rendererBuild(entry: string): Readonly<Record<string, unknown>> {
  return {
    EntryPoints: [entry, TYPST_BINARY],
    ...ESBUILD,
    External: UNUSED_PACKAGES,
    Alias: [`${TYPST_PACKAGE}=../lib/export/typst-bundled.ts`],
    EntryNames: "[name]",
    Loader: [".node=copy"],
  };
}

/** esbuild options of the converter: it contains the editor's packages, but not the services. */
export function converterBuild(
  entry: string,
  { publishAsMit }: { readonly publishAsMit: boolean },
): Readonly<Record<string, unknown>> {
  return {
    EntryPoints: [entry],
    ...ESBUILD,
    Banner: [CONVERTER_BANNER],
    External: [...UNUSED_PACKAGES, ...NOT_INSTALLED, ...(publishAsMit ? OPTIONAL_PACKAGES : PDF_WRITER)],
  };
}
