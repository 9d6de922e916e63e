import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { build, type Manifest } from "vite";
import { CHUNKS } from "./chunks.ts";
import { guides } from "./guides.ts";
import { linkShell } from "./link-shell.ts";
import { viteOptions } from "./options.ts";

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** Types of the files that a build contains, by extension. */
const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};
/** Not compressed again. */
const COMPRESSED = new Set([".png", ".woff2"]);

/** A file of the build. The server serves the files that `web.json` lists, and no others. */
export interface WebFile {
  readonly type: string;
  /** Bytes of the file, and of the files beside it with the endings `.br` and `.gz`. */
  readonly size: number;
  readonly br?: number;
  readonly gz?: number;
}

/** The contents of `web.json`. */
export interface WebBuild {
  /** By path, such as `/assets/index-4f2a.js`. */
  readonly files: Readonly<Record<string, WebFile>>;
  /** What each source file became, for the limits of sizes. */
  readonly manifest: Manifest;
}

/** The folder of the built page in a checkout. `localstack/web-files.ts` serves it. */
export const webFolder = (root: string): string => join(root, "node_modules", ".cache", "weft-web");

/**
 * Builds the page into its folder, with compressed files and `web.json`. The folder is replaced as a whole. Rejects
 * with Vite's error if a source cannot be built; the previous build is then unchanged.
 */
export async function buildWeb(root: string): Promise<WebBuild> {
  const folder = webFolder(root);
  const unfinished = `${folder}.${process.pid}`;
  // Vite prefers it to its own mode: a test or a shell may have set another.
  const { NODE_ENV } = process.env;
  process.env.NODE_ENV = "production";
  try {
    await build({
      ...viteOptions,
      plugins: [guides(), linkShell()],
      // Warnings are about directives of packages that concern servers.
      logLevel: "error",
      build: {
        outDir: unfinished,
        emptyOutDir: true,
        manifest: true,
        target: "es2023",
        // These have `light-dark()`, which would be replaced by variables for older ones.
        cssTarget: ["chrome123", "firefox120", "safari17.5"],
        assetsInlineLimit: 0,
        reportCompressedSize: false,
        chunkSizeWarningLimit: 1024,
        modulePreload: { polyfill: false },
        rolldownOptions: { output: { codeSplitting: { groups: CHUNKS } } },
      },
    });
    const manifestPath = join(unfinished, ".vite", "manifest.json");
    const manifest = JSON.parse(readFileSync(manifestPath, "utf8")) as Manifest;
    const names = readdirSync(join(unfinished, "assets"));
    const files = Object.fromEntries(
      await Promise.all(
        names.map(async (name) => [`/assets/${name}`, await compressFile(join(unfinished, "assets", name))]),
      ),
    ) as Record<string, WebFile>;
    const built: WebBuild = { files, manifest };
    writeFileSync(join(unfinished, "web.json"), JSON.stringify(built));
    rmSync(folder, { recursive: true, force: true });
    renameSync(unfinished, folder);
    return built;
  } finally {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = NODE_ENV;
    rmSync(unfinished, { recursive: true, force: true });
  }
}

async function compressFile(path: string): Promise<WebFile> {
  const extension = extname(path);
  const type = TYPES[extension];
  if (type === undefined) throw new Error(`${path}: add the type of its extension to TYPES`);
  const content = await readFile(path);
  const size = content.length;
  if (COMPRESSED.has(extension)) return { type, size };
  const [br, gz] = await Promise.all([
    compressBrotli(content, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: size } }),
    compressGzip(content, { level: 9 }),
  ]);
  await Promise.all([writeFile(`${path}.br`, br), writeFile(`${path}.gz`, gz)]);
  return { type, size, br: br.length, gz: gz.length };
}

/** What the page is built from, besides packages. */
const SOURCES = ["web", "client", "docs", "package-lock.json"];

/** Builds the page unless there is a build that is newer than its sources. Returns what there is. */
export async function ensureWeb(root: string): Promise<WebBuild> {
  const built = join(webFolder(root), "web.json");
  const builtAt = statSync(built, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const isCurrent = SOURCES.every((source) => newestIn(join(root, source)) < builtAt);
  return isCurrent ? (JSON.parse(readFileSync(built, "utf8")) as WebBuild) : buildWeb(root);
}

function newestIn(path: string): number {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newestIn(join(path, name))));
}

if (import.meta.main) {
  const root = join(import.meta.dirname, "..", "..");
  mkdirSync(join(root, "node_modules", ".cache"), { recursive: true });
  const start = performance.now();
  const { files } = await buildWeb(root);
  const ms = Math.round(performance.now() - start);
  process.stdout.write(`weft: built the web interface (${Object.keys(files).length} files) in ${ms} ms\n`);
}
