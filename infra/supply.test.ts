import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";

interface LockedPackage {
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
}

const read = async (name: string) =>
  JSON.parse(await readFile(new URL(`../${name}`, import.meta.url), "utf8")) as unknown;

/**
 * Optional packages for other systems than Linux on x64, without a hash: the registry with which the lock file was made
 * does not have them. `npm install` on such a system adds the hash.
 */
const WITHOUT_HASH =
  /^node_modules\/@myriaddreamin\/typst-ts-node-compiler-(?:android|darwin|win32|linux-arm)[\w-]*$/;

it("every package is pinned by its integrity hash, and comes from the registry", async () => {
  const { packages } = (await read("package-lock.json")) as { packages: Record<string, LockedPackage> };
  const others = Object.entries(packages).filter(([path]) => path !== "");
  expect(others.length).toBeGreaterThan(100);
  for (const [path, { integrity = "", resolved = "https://registry.npmjs.org/", link }] of others) {
    const isPinned = integrity.startsWith("sha512-") || WITHOUT_HASH.test(path);
    expect([path, isPinned, link]).toEqual([path, true, undefined]);
    expect([path, resolved.startsWith("https://registry.npmjs.org/")]).toEqual([path, true]);
  }
});

it("only the two packages that need it run an install script", async () => {
  const { allowScripts } = (await read("package.json")) as { allowScripts: Record<string, boolean> };
  const allowed = Object.entries(allowScripts).flatMap(([name, may]) => (may ? [name] : []));
  expect(allowed.toSorted()).toEqual(["esbuild", "node"]);
});
