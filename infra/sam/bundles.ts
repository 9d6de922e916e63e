import { isBuiltin } from "node:module";
import { basename, dirname, resolve } from "node:path";
import { type BuildOptions, build, type Loader, type Metafile } from "esbuild";
import { parse } from "yaml";
import * as z from "zod";

const properties = z.object({
  EntryPoints: z.tuple([z.string()], z.string()),
  EntryNames: z.string().optional(),
  Format: z.enum(["esm", "cjs"]),
  MainFields: z.string(),
  Target: z.string(),
  Minify: z.boolean(),
  Sourcemap: z.boolean(),
  SourcesContent: z.enum(["true", "false"]),
  OutExtension: z.array(z.string()),
  Banner: z.array(z.string()),
  Alias: z.array(z.string()).default([]),
  External: z.array(z.string()),
  Loader: z.array(z.string()).default([]),
});

const template = z.object({
  Resources: z.record(
    z.string(),
    z.looseObject({
      Type: z.string(),
      Metadata: z.looseObject({ BuildProperties: properties.optional() }).optional(),
      Properties: z.looseObject({ CodeUri: z.string().optional() }).optional(),
    }),
  ),
});

/** A function of a template, and esbuild's options for it. */
export interface FunctionBuild {
  readonly logicalId: string;
  readonly options: BuildOptions;
  /** File name of the function's bundle. Files beside it have other names. */
  readonly file: string;
}

/** The esbuild options that SAM uses for the functions of the template with this text and path. */
export function functionBuilds(text: string, path: string): FunctionBuild[] {
  return Object.entries(template.parse(parse(text)).Resources).flatMap(([logicalId, resource]) => {
    const found = resource.Metadata?.BuildProperties;
    if (found === undefined) return [];
    const folder = resolve(dirname(path), resource.Properties?.CodeUri ?? ".");
    return [
      {
        logicalId,
        options: toBuildOptions(found, folder),
        file: `${basename(found.EntryPoints[0], ".ts")}.mjs`,
      },
    ];
  });
}

/** The options of a function that do not depend on its entry point: functions with the same are built alike. */
export const configurationOf = ({ options: { entryPoints, ...options } }: FunctionBuild): string =>
  JSON.stringify([options, Array.isArray(entryPoints) ? entryPoints.slice(1) : []]);

/** Parses `key=value` texts, the form of esbuild's command line. */
const parsePairs = (texts: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    texts.map((text) => [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)]),
  );

function toBuildOptions(found: z.infer<typeof properties>, folder: string): BuildOptions {
  return {
    absWorkingDir: folder,
    entryPoints: found.EntryPoints.map((entry) => resolve(folder, entry)),
    bundle: true,
    platform: "node",
    format: found.Format,
    mainFields: found.MainFields.split(","),
    target: found.Target,
    minify: found.Minify,
    sourcemap: found.Sourcemap,
    sourcesContent: found.SourcesContent === "true",
    outExtension: parsePairs(found.OutExtension),
    banner: parsePairs(found.Banner),
    alias: parsePairs(found.Alias),
    external: found.External,
    loader: parsePairs(found.Loader) as Record<string, Loader>,
    ...(found.EntryNames === undefined ? {} : { entryNames: found.EntryNames }),
    logLevel: "silent",
    metafile: true,
  };
}

/** Contents of a bundle, bytes. */
export interface BundleSize {
  readonly logicalId: string;
  readonly total: number;
  /** Code of this repository. */
  readonly own: number;
  /** By package. */
  readonly packages: ReadonlyMap<string, number>;
  /** Modules that it imports at run time, except those of Node. */
  readonly imports: readonly string[];
  /** Modules of Node that it imports, as `node:fs`. */
  readonly nodeModules: readonly string[];
  /** Files built beside it, bytes. */
  readonly parts: ReadonlyMap<string, number>;
}

const PACKAGE = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/;

/** Bundles a function into a folder. */
export async function bundle(found: FunctionBuild, outdir: string): Promise<BundleSize> {
  const { metafile } = await build({ ...found.options, metafile: true, outdir });
  return sizeOf(found, metafile);
}

/** Contents of a function's bundle, from esbuild's metafile. */
export function sizeOf({ logicalId, file }: FunctionBuild, metafile: Metafile): BundleSize {
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, made]) => [basename(path), made]));
  const output = outputs.get(file);
  if (output === undefined) throw new Error(`${logicalId}: esbuild produced no output`);
  const packages = new Map<string, number>();
  let own = 0;
  for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
    const name = PACKAGE.exec(path)?.[1];
    // Documents that a function returns are not code.
    if (path.endsWith(".json")) continue;
    if (name === undefined) own += bytesInOutput;
    else packages.set(name, (packages.get(name) ?? 0) + bytesInOutput);
  }
  const outside = [...new Set(output.imports.filter(({ external }) => external).map(({ path }) => path))];
  return {
    logicalId,
    total: output.bytes,
    own,
    packages,
    imports: outside.filter((path) => !isBuiltin(path)),
    parts: new Map(
      [...outputs]
        .filter(([name]) => name !== file && !name.endsWith(".map"))
        .map(([name, { bytes }]) => [name, bytes]),
    ),
    nodeModules: outside.filter(isBuiltin).map((path) => (path.startsWith("node:") ? path : `node:${path}`)),
  };
}
