/**
 * Licenses of packages that a distribution under the MIT license may contain, as SPDX identifiers. Decision 0123 says
 * why each is compatible.
 */
export const COMPATIBLE_LICENSES: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC-BY-3.0",
  "CC-BY-4.0",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "MPL-2.0",
  "OFL-1.1",
  "Python-2.0",
  "Unlicense",
  "Zlib",
]);

/** Licenses of packages that state it in the former field `licenses`, which npm does not copy to the lock file. */
const FORMER_FIELD: Readonly<Record<string, string>> = {
  buildcheck: "MIT",
  "cpu-features": "MIT",
  ssh2: "MIT",
};

/** What is read of `package-lock.json`. */
export interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
}

export interface LicensedPackage {
  /** Path in the installation, such as `node_modules/zod`: the key of the lock file. */
  readonly path: string;
  readonly name: string;
  readonly version: string;
  /** An SPDX expression; empty if the package states none. */
  readonly license: string;
  /** Whether only development tools need it. */
  readonly isDev: boolean;
}

/** All packages of the lock file, sorted by name and version. */
export function lockedPackages({ packages }: LockFile): LicensedPackage[] {
  return Object.entries(packages)
    .filter(([path]) => path !== "")
    .map(([path, { version = "", license, dev = false }]) => {
      const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
      return { path, name, version, license: license ?? FORMER_FIELD[name] ?? "", isDev: dev };
    })
    .toSorted((a, b) => compare(a.name, b.name) || compare(a.version, b.version));
}

/**
 * Whether an MIT-licensed distribution may contain a package under this SPDX expression: all licenses of one
 * alternative are compatible. Nested expressions and exceptions (`WITH`) are not.
 */
export function isMitCompatible(expression: string): boolean {
  return expression
    .replace(/^\((.*)\)$/, "$1")
    .split(" OR ")
    .some((alternative) => alternative.split(" AND ").every((license) => COMPATIBLE_LICENSES.has(license)));
}

/** Names with versions by license, the most frequent license first. */
export function packagesByLicense(packages: readonly LicensedPackage[]): [string, string[]][] {
  const groups = [...Map.groupBy(packages, ({ license }) => license)];
  return groups
    .toSorted(([a, { length: more }], [b, { length: fewer }]) => fewer - more || compare(a, b))
    .map(([license, own]) => [license, [...new Set(own.map(({ name, version }) => `${name} ${version}`))]]);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
