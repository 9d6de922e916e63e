import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { basename, join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild";
import { findEditorWriters, licenseNotice } from "../../lib/conversion/editor-packages.ts";
import { readSetting } from "../../lib/settings/read.ts";
import { readTemplateFiles, type Template } from "../template.ts";

/** A server may load a part of the bundle that it started from for this long, milliseconds. */
const UNUSED_MAX_MS = 7 * 86_400_000;

/** What a start loads from a bundle's folder; it has what `localstack/server.ts` has. */
const ENTRY = "localstack/server.ts";
/** Another module stands in its place in a bundle. */
const BUNDLED = "localstack/bundled.ts";
/** What other processes and threads run. The sources name each as `new URL("…", import.meta.url)`. */
const PROGRAMS: Readonly<Record<string, string>> = {
  "lib/platform/embedded/runner/main.ts": "runner",
  "lib/platform/embedded/runner/commands.ts": "commands",
  "lib/platform/embedded/converter/main.ts": "converter",
  "lib/platform/embedded/renderer/main.ts": "renderer",
  "lib/platform/embedded/full-text/main.ts": "full-text",
  "lib/platform/scripts/script-worker.ts": "script-worker",
  "lib/workflows/script-library/library.ts": "library",
};
const TEMPLATE = "template.yaml";
/** These shape a bundle without being in it. */
const SETTINGS = [
  "package.json",
  "lib/package.json",
  "tsconfig.json",
  "node_modules/.package-lock.json",
  ...["build.ts"].map((name) => `localstack/bundle/${name}`),
];

/**
 * Stay where they are installed: native code, Web Assembly beside the code, the other platform's, and CommonJS that is
 * loaded when it is first needed.
 */
const EXTERNAL = [
  "@aws-sdk/*",
  "@smithy/*",
  "esbuild",
  "jq-wasm",
  "koffi",
  "quickjs-wasi",
  "dockerode",
  "ssh2",
  "yauzl",
  "yazl",
  "@ai-sdk/*",
  "ai",
  "@blocknote/*",
  "@myriaddreamin/*",
  "docx",
  "odf-kit",
  "@react-pdf/renderer",
  "yjs",
  "@hocuspocus/server",
  "ws",
];

const OPTIONS = {
  bundle: true,
  splitting: true,
  platform: "node",
  format: "esm",
  target: "node24",
  mainFields: ["module", "main"],
  outExtension: { ".js": ".mjs" },
  external: EXTERNAL,
  minifySyntax: true,
  minifyWhitespace: true,
  sourcemap: "external",
  sourcesContent: false,
  metafile: true,
  write: false,
  logLevel: "silent",
} satisfies BuildOptions;

/**
 * Bundles the server with the functions of the template at `root` into `folder`. Builds at the same time
 * write the same files, each file at once. Throws if a source cannot be bundled; the previous bundle is then unchanged.
 * Returns what the bundle consists of.
 */
export async function buildBundle(
  root: string,
  folder: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Metafile> {
  const publishAsMit = readSetting(env, "PUBLISH_AS_MIT");
  const writers = findEditorWriters({ publishAsMit }, pathToFileURL(join(root, TEMPLATE)).href);
  if (writers !== undefined) process.stderr.write(`weft: ${licenseNotice(writers)}\n`);
  // A source that is written during the build is newer than the bundle.
  const startedAt = Date.now();
  const { template, files } = readTemplateFiles(join(root, TEMPLATE));
  const { metafile, outputFiles } = await build({
    ...OPTIONS,
    absWorkingDir: root,
    outdir: folder,
    plugins: [placesOfSources(root), bundledModule(root, template), builtins],
    entryPoints: Object.entries({ [ENTRY]: "server", ...PROGRAMS }).map(([path, out]) => ({ in: path, out })),
  });
  checkDynamicImports(metafile);
  const inputs = Object.keys(metafile.inputs).filter((path) => !/^builtin:|^node_modules\//.test(path));
  const templates = files.map((file) => fromRoot(root, resolve(file)));
  const sources = [...new Set([...inputs, ...templates, ...SETTINGS])];
  mkdirSync(folder, { recursive: true });
  rmSync(join(folder, "bundle.json"), { force: true });
  rmSync(join(folder, "compiled"), { recursive: true, force: true });
  removeUnused(folder, new Set(outputFiles.map(({ path }) => basename(path))));
  for (const { path, contents } of outputFiles) replaceFile(path, contents);
  replaceFile(join(folder, "bundle.json"), JSON.stringify({ root, startedAt, sources }));
  return metafile;
}

/** Removes the files of earlier bundles, unless a running server may still load them. */
function removeUnused(folder: string, outputs: ReadonlySet<string>): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const modifiedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (!outputs.has(name) && Date.now() - modifiedAt > UNUSED_MAX_MS) rmSync(path, { force: true });
  }
}

function replaceFile(path: string, contents: string | Uint8Array): void {
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, contents);
  renameSync(temporary, path);
}

/** CommonJS in a chunk of its own has lost its names: only its default is left. Throws. */
export function checkDynamicImports({ inputs }: Pick<Metafile, "inputs">): void {
  for (const [file, { imports }] of Object.entries(inputs))
    for (const { kind, path } of imports)
      if (kind === "dynamic-import" && inputs[path]?.format === "cjs")
        throw new Error(`${file} loads ${path} when it is needed, which is CommonJS: it has to stay outside`);
}

/** With forward slashes everywhere. */
const fromRoot = (root: string, file: string): string => relative(root, file).replaceAll("\\", "/");

const OWN_PLACE = /new URL\(\s*"([^"]+)",\s*import\.meta\.url,?\s*\)|import\.meta\.url/g;

/** Modules go on to know their own places, and where the programs are that they start. */
function placesOfSources(root: string): Plugin {
  const placed = (file: string, text: string): string =>
    text.replace(OWN_PLACE, (_, path: string | undefined) => {
      const own = pathToFileURL(file);
      if (path === undefined) return JSON.stringify(own.href);
      const target = new URL(path, own);
      const program = PROGRAMS[fromRoot(root, fileURLToPath(target))];
      return program === undefined
        ? `new URL(${JSON.stringify(target.href)})`
        : `new URL("./${program}.mjs", import.meta.url)`;
    });
  return {
    name: "places-of-sources",
    setup: ({ onLoad }) => {
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const text = readFileSync(path, "utf8");
        return text.includes("import.meta.url") ? { contents: placed(path, text), loader: "ts" } : undefined;
      });
    },
  };
}

/** What `bundled.ts` says of a bundle: the template is text, which is parsed faster than code. */
function bundledModule(root: string, template: Template): Plugin {
  const path = join(root, TEMPLATE);
  const entries = [...new Set(template.functions.map(({ entry }) => resolve(root, entry)))];
  const functions = entries.map((file) => `${JSON.stringify(file)}: () => import(${JSON.stringify(file)})`);
  const read = `JSON.parse(${JSON.stringify(JSON.stringify(template))})`;
  const contents = `export const bundled = {
    template: { path: ${JSON.stringify(path)}, read: ${read} },
    functions: { ${functions.join(", ")} },
  };`;
  return {
    name: "bundled-module",
    setup: ({ onLoad }) => {
      onLoad({ filter: /[\\/]bundled\.ts$/ }, (file) =>
        fromRoot(root, file.path) === BUNDLED ? { contents, loader: "js", resolveDir: root } : undefined,
      );
    },
  };
}

/**
 * CommonJS packages get Node's modules without `require`, which an ES module lacks. All get `node:http` so: an ES
 * module's import of it asks for every export, and one of them loads the whole of Node's `fetch`.
 */
const builtins: Plugin = {
  name: "builtins",
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^[a-z][\w:/]*$/ }, ({ path, kind }) =>
      isBuiltin(path) && (kind === "require-call" || /^(?:node:)?http$/.test(path))
        ? { path: path.replace(/^node:/, ""), namespace: "builtin" }
        : undefined,
    );
    onLoad({ filter: /./, namespace: "builtin" }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};
