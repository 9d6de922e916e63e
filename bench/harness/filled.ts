import { fork } from "node:child_process";
import { createHash } from "node:crypto";
import { constants, existsSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { addCleanup, createTemporaryFolder } from "./cleanup.ts";
import type { RecordKind } from "./records.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CACHE = join(ROOT, "node_modules", ".cache", "weft-bench");
const CHILD = fileURLToPath(new URL("./fill-child.ts", import.meta.url));

/** Code that determines the content of a filled data folder; a change of it invalidates the cache. */
const SHAPING = [
  "bench/harness/document-data.ts",
  "bench/harness/fill-child.ts",
  "bench/harness/fill-documents.ts",
  "bench/harness/fill-lists.ts",
  "bench/harness/fill-texts.ts",
  "bench/harness/text-data.ts",
  "bench/harness/list-records.ts",
  "bench/harness/records.ts",
  "functions/executors",
  "lib/app/compose.ts",
  "lib/documents",
  "lib/events",
  "lib/platform/embedded",
  "lib/ranked-index",
  "lib/tables.ts",
  "lib/workflows/artifacts",
  "lib/workflows/assets",
  "lib/workflows/dead-letters",
  "lib/workflows/store",
  "lib/workflows/lists",
  "lib/workflows/runs",
  "lib/workflows/schedules",
  "lib/workflows/vulnerabilities",
  "lib/workflows/workspaces",
];

/** Minimum number of records for caching; fewer are filled each time within a second. */
const KEPT_FROM = 10_000;

/**
 * Returns a data folder with `count` records, which the caller may change. A large folder is a copy of a cached one in
 * `node_modules/.cache/weft-bench`, which is filled once for each state of the code; those of other states are removed.
 */
export async function openFilledFolder(kind: RecordKind, count: number): Promise<string> {
  const copy = join(createTemporaryFolder("filled"), "data");
  if (count < KEPT_FROM) {
    await fill(copy, kind, count);
    return copy;
  }
  const key = stateOfCode();
  const kept = join(CACHE, key, `${kind}-${count}`);
  if (!existsSync(kept)) await make(key, kept, kind, count);
  await cp(kept, copy, { recursive: true, mode: constants.COPYFILE_FICLONE });
  return copy;
}

async function make(key: string, kept: string, kind: RecordKind, count: number): Promise<void> {
  await mkdir(join(CACHE, key), { recursive: true });
  for (const name of readdirSync(CACHE))
    if (name !== key) rmSync(join(CACHE, name), { recursive: true, force: true });
  const draft = `${kept}.${process.pid}`;
  addCleanup(() => rmSync(draft, { recursive: true, force: true }));
  await fill(draft, kind, count);
  renameSync(draft, kept);
}

async function fill(dataDir: string, kind: RecordKind, count: number): Promise<void> {
  process.stderr.write(`filling a data folder with ${count} ${kind}\n`);
  const child = fork(CHILD);
  addCleanup(() => child.kill("SIGKILL"));
  child.send({ dataDir, kind, count });
  const code = await new Promise((resolve) => child.once("exit", resolve));
  if (code !== 0) throw new Error(`filling ended with ${code}`);
}

function stateOfCode(): string {
  const hash = createHash("sha256");
  for (const path of SHAPING.flatMap(sourcesAt).sort())
    hash.update(path).update(readFileSync(join(ROOT, path)));
  return hash.digest("hex").slice(0, 16);
}

function sourcesAt(path: string): string[] {
  if (path.endsWith(".ts")) return [path];
  return readdirSync(join(ROOT, path), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !/\.(?:test|cloud|faults)\.ts$/.test(name))
    .map((name) => join(path, name));
}
