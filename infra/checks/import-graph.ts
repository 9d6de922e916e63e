import { join, posix } from "node:path";
import { build, type Plugin } from "esbuild";
import { isTest, type Source } from "./sources.ts";

/** One file imports another. */
export interface ImportEdge {
  readonly from: string;
  /** A path relative to the root, `npm:<package>[/<path>]` or `node:<module>`. */
  readonly to: string;
  /** Erased by type stripping. */
  readonly typeOnly: boolean;
}

const TYPE_IMPORT = /^(\s*import\s+)type(\s+(?:[\w$]+\s+from\b|\*|\{))/gm;
const TYPE_EXPORT = /^(\s*export\s+)type(\s*(?:\{[^}]*\}|\*[^"';]*?)\s*from\b)/gm;
const INLINE_TYPE_IMPORT = /\bimport\("([^"]+)"\)\./g;

/**
 * All imports between the given files, found by esbuild's parser in two passes: the source as it is, which omits
 * type imports, and the source with type imports turned into value imports. Throws for a file that does not parse.
 */
export async function importGraph(root: string, sources: readonly Source[]): Promise<ImportEdge[]> {
  const texts = new Map(sources.map(({ path, text }) => [path, text]));
  const values = await collectImports(root, texts);
  const plain = new Map([...texts].map(([path, text]) => [path, withPlainImports(text)]));
  const all = await collectImports(root, plain);
  const edges: ImportEdge[] = [];
  for (const [from, text] of texts) {
    const kept = values.get(from) ?? new Set();
    // Tests contain code in strings.
    const found = isTest(from) ? [] : [...text.matchAll(INLINE_TYPE_IMPORT)];
    const inline = found.map(([, specifier]) => resolveTarget(from, specifier ?? ""));
    for (const to of new Set([...(all.get(from) ?? []), ...inline]))
      edges.push({ from, to, typeOnly: !kept.has(to) });
  }
  return edges;
}

function withPlainImports(text: string): string {
  return text.replace(TYPE_IMPORT, "$1$2").replace(TYPE_EXPORT, "$1$2");
}

async function collectImports(
  root: string,
  texts: ReadonlyMap<string, string>,
): Promise<Map<string, Set<string>>> {
  const found = new Map<string, Set<string>>();
  if (texts.size === 0) return found;
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [...texts.keys()],
    bundle: true,
    write: false,
    metafile: true,
    outdir: join(root, "dist"),
    format: "esm",
    platform: "node",
    jsx: "preserve",
    logLevel: "silent",
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    plugins: [memoryPlugin(root, texts)],
  });
  for (const [path, { imports }] of Object.entries(metafile.inputs)) {
    found.set(path, new Set(imports.map((edge) => resolveTarget(path, edge.path))));
  }
  return found;
}

/** Passes the texts to esbuild, and marks every import as external. */
function memoryPlugin(root: string, texts: ReadonlyMap<string, string>): Plugin {
  return {
    name: "from-memory",
    setup(context) {
      context.onResolve({ filter: /.*/ }, ({ kind, path }) =>
        kind === "entry-point" ? { path: join(root, path) } : { path, external: true },
      );
      context.onLoad({ filter: /.*/ }, ({ path }) => ({
        contents: texts.get(path.slice(root.length).replace(/^\/+/, "")) ?? "",
        loader: path.endsWith(".tsx") ? "tsx" : /\.m?ts$/.test(path) ? "ts" : "js",
      }));
    },
  };
}

function resolveTarget(from: string, specifier: string): string {
  if (specifier.startsWith("#")) return specifier.slice(1);
  if (specifier.startsWith("node:")) return specifier;
  if (!specifier.startsWith(".")) return `npm:${specifier}`;
  // A query, such as `?worker&url`, says what Vite makes of the file.
  return posix.join(posix.dirname(from), specifier.replace(/\?.*$/, ""));
}
