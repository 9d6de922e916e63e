import { isBuiltin } from "node:module";
import { basename, dirname, resolve } from "node:path";
import { type BuildOptions, build, type Loader, type Metafile } from "esbuild";
import { parse } from "yaml";
import * as z from "zod";

const properties = z.object({
  EntryPoints: z.tuple([z.string()], z.string()),
  EntryNames: z.string().optional(),
  Format: z.enum(["esm", "cjs"]),
  Splitting: z.boolean(),
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
  /** As in `BundleSize`. */
  readonly kind: string;
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
        kind: kindOf(found.EntryPoints[0]),
        options: toBuildOptions(found, folder),
        file: `${basename(found.EntryPoints[0], ".ts")}.mjs`,
      },
    ];
  });
}

/** `documents` of `documents/content/read.ts`, `converter` of `../lib/platform/aws/converter-function.ts`. */
const kindOf = (entry: string): string =>
  entry.startsWith("../") ? basename(entry, "-function.ts") : entry.slice(0, entry.indexOf("/"));

/** The options of a function that do not depend on its entry point: functions with the same are built alike. */
export const configurationOf = ({ options: { entryPoints, ...options } }: FunctionBuild): string =>
  JSON.stringify([options, Array.isArray(entryPoints) ? entryPoints.slice(1) : []]);

/** The first of the functions with the same configuration in the same folder, and those with the same code. */
export function samplesOf<Build extends FunctionBuild>(builds: readonly Build[]): Build[] {
  const samples = new Map<string, string>();
  for (const found of builds) {
    const group = `${configurationOf(found)} ${dirname((found.options.entryPoints as string[])[0] ?? "")}`;
    if (!samples.has(group)) samples.set(group, JSON.stringify(found.options));
  }
  const options = new Set(samples.values());
  return builds.filter((found) => options.has(JSON.stringify(found.options)));
}

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
    splitting: found.Splitting,
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
  /** The folder of its file below `functions/`, or what it does: `workflows`, `consumers`, `converter`. */
  readonly kind: string;
  /** What the function loads when it starts. */
  readonly total: number;
  /** The same and the SDK of DynamoDB, which a function that uses tables loads with its first event. */
  readonly withTables: number;
  /** Code of this repository in it. */
  readonly own: number;
  /** Packages in it. */
  readonly packages: ReadonlyMap<string, number>;
  /** What it loads on first use: the chunks of `import()`. */
  readonly later: number;
  /** Packages in both. */
  readonly contents: ReadonlySet<string>;
  /** Modules that both import at run time, except those of Node. */
  readonly imports: readonly string[];
  /** Modules of Node that both import, as `node:fs`. */
  readonly nodeModules: readonly string[];
  /** All files, without source maps. */
  readonly files: ReadonlyMap<string, number>;
  /** What the other entry points load and the function does not: threads and scripts. */
  readonly beside: ReadonlyMap<string, number>;
}

const PACKAGE = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/;

/** Bundles a function into a folder. */
export async function bundle(found: FunctionBuild, outdir: string): Promise<BundleSize> {
  const { metafile } = await build({ ...found.options, metafile: true, outdir });
  return sizeOf(found, metafile);
}

/** Contents of a function's bundle, from esbuild's metafile. */
export function sizeOf({ logicalId, kind, file, options }: FunctionBuild, metafile: Metafile): BundleSize {
  const outputs = new Map(
    Object.entries(metafile.outputs)
      .filter(([path]) => !path.endsWith(".map"))
      .map(([path, made]) => [basename(path), made]),
  );
  if (!outputs.has(file)) throw new Error(`${logicalId}: esbuild produced no output`);
  const tables = [...outputs].flatMap(([name, { entryPoint }]) =>
    entryPoint?.endsWith("/dynamodb-sdk.ts") === true ? [name] : [],
  );
  const atStart = reachable(outputs, [file], isStatic);
  const loaded = reachable(outputs, [file], () => true);
  const [, ...others] = (options.entryPoints as string[]).map((path) =>
    basename(path).replace(/\.ts$/, ".mjs"),
  );
  const packages = new Map<string, number>();
  let own = 0;
  for (const [path, bytes] of inputsOf(atStart)) {
    const name = PACKAGE.exec(path)?.[1];
    // Documents that a function returns are not code.
    if (path.endsWith(".json")) continue;
    if (name === undefined) own += bytes;
    else packages.set(name, (packages.get(name) ?? 0) + bytes);
  }
  const external = [...loaded.values()].flatMap(({ imports }) => imports.filter((one) => one.external));
  const outside = [...new Set(external.map(({ path }) => path))];
  const total = bytesOf(atStart);
  return {
    logicalId,
    kind,
    total,
    withTables: bytesOf(reachable(outputs, [file, ...tables], isStatic)),
    own,
    packages,
    later: bytesOf(loaded) - total,
    contents: new Set(inputsOf(loaded).flatMap(([path]) => PACKAGE.exec(path)?.[1] ?? [])),
    imports: outside.filter((path) => !isBuiltin(path)),
    nodeModules: outside.filter(isBuiltin).map((path) => (path.startsWith("node:") ? path : `node:${path}`)),
    files: sizesOf(outputs),
    beside: sizesOf(
      new Map([...reachable(outputs, others, () => true)].filter(([name]) => !loaded.has(name))),
    ),
  };
}

type Outputs = ReadonlyMap<string, Metafile["outputs"][string]>;
type OutputImport = Metafile["outputs"][string]["imports"][number];

const isStatic = ({ kind }: OutputImport): boolean => kind !== "dynamic-import";

/** These outputs and those that they import, also indirectly, by such imports. */
function reachable(
  outputs: Outputs,
  first: readonly string[],
  follows: (one: OutputImport) => boolean,
): Outputs {
  const names = new Set(first);
  // A set also iterates over what is added meanwhile.
  for (const name of names)
    for (const one of outputs.get(name)?.imports ?? [])
      if (one.external !== true && follows(one)) names.add(basename(one.path));
  return new Map([...outputs].filter(([name]) => names.has(name)));
}

const inputsOf = (outputs: Outputs): [path: string, bytes: number][] =>
  [...outputs.values()].flatMap(({ inputs }) =>
    Object.entries(inputs).map(([path, { bytesInOutput }]): [string, number] => [path, bytesInOutput]),
  );

const sizesOf = (outputs: Outputs): Map<string, number> =>
  new Map([...outputs].map(([name, { bytes }]) => [name, bytes]));

const bytesOf = (outputs: Outputs): number =>
  [...outputs.values()].reduce((sum, { bytes }) => sum + bytes, 0);
