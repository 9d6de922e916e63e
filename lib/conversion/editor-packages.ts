import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** The editor's packages that are not under a license compatible with MIT: its writers of files, and columns. */
export const EDITOR_PACKAGES = [
  "@blocknote/xl-docx-exporter",
  "@blocknote/xl-odt-exporter",
  "@blocknote/xl-pdf-exporter",
  "@blocknote/xl-multi-column",
] as const;
/** What the code may import without having it among its dependencies: these, and what they install. */
export const OPTIONAL_PACKAGES: ReadonlySet<string> = new Set([...EDITOR_PACKAGES, "@react-pdf/renderer"]);
/** They must be of its release: a second copy of it would not know the other's blocks. */
const EDITOR = "@blocknote/core";

/** The packages that `PUBLISH_AS_MIT=false` adds to an installation. */
export interface EditorWriters {
  /** Version of all of them. */
  readonly version: string;
  /** SPDX expression that the packages state, and so that of the installation. */
  readonly license: string;
}

/**
 * Finds the editor's writers and columns that the operator has installed; undefined with `PUBLISH_AS_MIT=true`, which
 * never looks for them. Throws an Error of one sentence, with the code `ERR_MISSING_PACKAGES`, if one is missing or of
 * another release than the editor.
 * `from` is the URL of a module, from which packages are resolved.
 */
export function findEditorWriters(
  { publishAsMit }: { readonly publishAsMit: boolean },
  from: string = import.meta.url,
): EditorWriters | undefined {
  if (publishAsMit) return undefined;
  const version = readPackage(EDITOR, from)?.version ?? "latest";
  const installed = EDITOR_PACKAGES.map((name) => ({ name, found: readPackage(name, from) }));
  const missing = installed.filter(({ found }) => found?.version !== version).map(({ name }) => name);
  if (missing.length > 0) {
    const names = missing.map((name) => `${name} ${version}`).join(", ");
    const command = `npm install --no-save ${EDITOR_PACKAGES.map((name) => `${name}@${version}`).join(" ")}`;
    const message = `PUBLISH_AS_MIT=false needs ${names}: run ${command}, or unset PUBLISH_AS_MIT.`;
    throw Object.assign(new Error(message), { code: "ERR_MISSING_PACKAGES" });
  }
  const licenses = new Set(installed.map(({ found }) => found?.license ?? "unknown"));
  return { version, license: [...licenses].join(" AND ") };
}

/** Whether this is the error of `findEditorWriters`. */
export const isMissingPackages = (error: unknown): error is Error =>
  error instanceof Error && (error as NodeJS.ErrnoException).code === "ERR_MISSING_PACKAGES";

/** The line that a build and a start print about the license of the installation. */
export function licenseNotice({ license, version }: EditorWriters): string {
  return `License of this build: ${license} (PUBLISH_AS_MIT=false adds ${EDITOR_PACKAGES.map((name) => `${name} ${version}`).join(", ")})`;
}

interface PackageFile {
  readonly version: string;
  readonly license?: string;
}

/** Reads the file itself: `exports` of these packages hide it from `require`. */
function readPackage(name: string, from: string): PackageFile | undefined {
  for (const folder of createRequire(from).resolve.paths(name) ?? []) {
    try {
      return JSON.parse(readFileSync(join(folder, name, "package.json"), "utf8")) as PackageFile;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  return undefined;
}
