import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Metafile } from "esbuild";
import { describe, expect, it, onTestFinished } from "vitest";
import { buildBundle } from "../localstack/bundle/build.ts";
import { isMitCompatible, type LockFile, lockedPackages, packagesByLicense } from "./licenses.ts";
import { configurationOf, type FunctionBuild, functionBuilds } from "./sam/bundles.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const STACKS = ["workflows", "documents"];
const INSTALLED_PATH = /(?:^|\/)(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//;

const lock = JSON.parse(await readFile(join(ROOT, "package-lock.json"), "utf8")) as LockFile;
const packages = lockedPackages(lock);

/** Paths of the packages that contribute to a bundle, before unused code is removed. */
const packagePaths = ({ inputs }: Metafile): string[] => [
  ...new Set(Object.keys(inputs).flatMap((path) => INSTALLED_PATH.exec(path)?.[1] ?? [])),
];

/** The metafile of all functions with the same options: those of `sam build`, built together and without output. */
async function metafileOf(builds: readonly FunctionBuild[]): Promise<Metafile> {
  const entryPoints = [...new Set(builds.flatMap(({ options }) => options.entryPoints as string[]))];
  const { metafile } = await build({
    ...builds[0]!.options,
    entryPoints,
    entryNames: "[dir]/[name]",
    outdir: "not-written",
    splitting: true,
    minify: false,
    sourcemap: false,
    write: false,
    metafile: true,
  });
  return metafile;
}

/** What a distribution must not contain. */
const findForeign = (paths: readonly string[]): string[] =>
  paths.filter((path) => !isMitCompatible(packages.find((one) => one.path === path)?.license ?? ""));

describe("the licenses of packages", () => {
  it("are compatible with the MIT license", () => {
    expect(packages.length).toBeGreaterThan(400);
    const foreign = packages.filter(({ license }) => !isMitCompatible(license));
    expect(foreign.map(({ name, license }) => `${name}: ${license}`)).toEqual([]);
    expect(Object.keys(lock.packages).filter((path) => path.includes("@blocknote/xl-"))).toEqual([]);
  });

  it("are what the installed packages state", async () => {
    const differing: string[] = [];
    for (const { path, license } of packages) {
      const text = await readFile(join(ROOT, path, "package.json"), "utf8").catch(() => undefined);
      // A package for another platform.
      if (text === undefined) continue;
      const own = JSON.parse(text) as { license?: unknown; licenses?: { type: string }[] };
      const stated = own.license ?? own.licenses?.map(({ type }) => type).join(" OR ");
      if (stated !== license) differing.push(`${path}: ${JSON.stringify(stated)}, not ${license}`);
    }
    expect(differing).toEqual([]);
  });

  it("are listed in docs/licenses.md", async () => {
    const page = await readFile(join(ROOT, "docs/licenses.md"), "utf8");
    for (const [license, names] of packagesByLicense(packages.filter(({ isDev }) => !isDev))) {
      const row = page.split("\n").find((line) => line.startsWith(`| ${license} |`));
      for (const name of names) expect(row).toContain(name);
    }
  });
});

describe("a bundle", () => {
  it("of the server contains only compatible packages", async () => {
    const folder = await mkdtemp(join(tmpdir(), "weft-licenses-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const paths = packagePaths(await buildBundle(ROOT, folder));
    expect(paths).toContain("node_modules/zod");
    expect(findForeign(paths)).toEqual([]);
  }, 120_000);

  it.each(STACKS)(
    "of a function of %s contains only compatible packages",
    async (stack) => {
      const file = join(ROOT, `infra/stacks/${stack}.yaml`);
      const builds = functionBuilds(await readFile(file, "utf8"), file);
      const paths = new Set<string>();
      for (const alike of Map.groupBy(builds, configurationOf).values())
        for (const path of packagePaths(await metafileOf(alike))) paths.add(path);
      expect(paths).toContain("node_modules/zod");
      expect(paths.has("node_modules/@blocknote/core")).toBe(stack === "documents");
      expect(findForeign([...paths])).toEqual([]);
    },
    240_000,
  );
});

describe("a license", () => {
  it.each([
    ["MIT", true],
    ["(MPL-2.0 OR Apache-2.0)", true],
    ["GPL-3.0-or-later OR MIT", true],
    ["(MIT AND Zlib)", true],
    ["GPL-3.0 OR PROPRIETARY", false],
    ["MIT AND GPL-3.0-only", false],
    ["AGPL-3.0-only", false],
    ["LGPL-3.0", false],
    ["(MIT OR (GPL-3.0 AND ISC))", true],
    ["(GPL-3.0 AND (MIT OR ISC))", false],
    ["SEE LICENSE IN LICENSE.md", false],
    ["", false],
  ])("%s: compatible %s", (expression, expected) => {
    expect(isMitCompatible(expression)).toBe(expected);
  });

  it("is empty for a package that states none", () => {
    const entries = {
      "": {},
      "node_modules/a": { version: "1.0.0", license: "GPL-3.0", dev: true },
      "node_modules/b": { version: "2.0.0", license: "ISC" },
      "node_modules/b/node_modules/@c/d": { version: "3.0.0" },
    };
    expect(lockedPackages({ packages: entries })).toEqual([
      { path: "node_modules/b/node_modules/@c/d", name: "@c/d", version: "3.0.0", license: "", isDev: false },
      { path: "node_modules/a", name: "a", version: "1.0.0", license: "GPL-3.0", isDev: true },
      { path: "node_modules/b", name: "b", version: "2.0.0", license: "ISC", isDev: false },
    ]);
  });
});
