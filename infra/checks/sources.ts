import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { byCodeUnits } from "../names.ts";

/** A source file. */
export interface Source {
  /** From the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** A violation and its location. */
export interface Finding {
  readonly path: string;
  readonly rule: string;
  readonly message: string;
}

/** Folders that contain source code. */
const FOLDERS = [
  "bench",
  "bin",
  "client",
  "examples",
  "functions",
  "infra",
  "lib",
  "localstack",
  "tests",
  "web",
];
const CODE = /\.(?:ts|tsx|mts|js|mjs)$/;

/** Tests, test support (`test-*.ts`), and the contract suite of the adapters. */
export function isTest(path: string): boolean {
  return /\.(?:test|faults|cloud|localstack|remote)\.tsx?$|(?:^|\/)test-[^/]+\.ts$|^lib\/platform\/contract\//.test(
    path,
  );
}

/** All source files below `root`, sorted by path. */
export async function listSources(root: string): Promise<Source[]> {
  const paths: string[] = [];
  for (const folder of FOLDERS) {
    const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(
      () => [],
    );
    for (const entry of entries) {
      const path = join(entry.parentPath, entry.name)
        .slice(root.length)
        .replaceAll("\\", "/")
        .replace(/^\/+/, "");
      if (entry.isFile() && CODE.test(entry.name) && !path.includes("node_modules/")) paths.push(path);
    }
  }
  paths.sort(byCodeUnits);
  return Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(root, path), "utf8") })));
}
