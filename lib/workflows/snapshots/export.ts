import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { type PassThrough, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ZipFile } from "yazl";
import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { isInsidePath } from "../artifacts/artifact-paths.ts";
import { listArtifacts } from "../artifacts/list.ts";
import {
  type FileDeps,
  folderOf,
  type OpenedFile,
  sharedEntries,
  workspaceOpener,
} from "../artifacts/open-artifact.ts";
import { listAssets } from "../assets/list.ts";
import type { ListDeps } from "../lists/list.ts";
import { listVulnerabilities } from "../vulnerabilities/list.ts";
import { scanFolder } from "../workspaces/folder.ts";
import { workspaceName } from "../workspaces/workspace-name.ts";
import { workspaceRecordKey, workspaceRecordsTable } from "../workspaces/workspace-records.ts";
import {
  MANIFEST,
  RECORD_FILES,
  SNAPSHOT_CONTENT_MAX_BYTES,
  SNAPSHOT_ENTRIES_MAX,
  SNAPSHOT_RECORDS_MAX,
} from "./limits.ts";
import { type FolderDeps, openSnapshot, sizeOf, storeSnapshot, withFolder } from "./store.ts";

export type SnapshotDeps = ListDeps & FileDeps & FolderDeps & Pick<Ports, "blobs" | "clock">;

export interface SnapshotExport {
  readonly name: string;
  readonly size: number;
  readonly content: AsyncIterable<Uint8Array>;
}

/**
 * Packs a workspace into a zip: its files except links, its assets, vulnerabilities and artifacts. Stores and returns
 * it. Throws `not_found`, `payload_too_large`.
 */
export async function exportSnapshot(deps: SnapshotDeps, workspace: string): Promise<SnapshotExport> {
  const files = await filesOf(deps, workspace);
  const record = await deps.tables.get(workspaceRecordsTable, workspaceRecordKey(workspace));
  if (record === undefined && files.size === 0) throw new ApiError("not_found", "Workspace not found");
  const now = new Date(deps.clock.now()).toISOString();
  const name = `${workspaceName(workspace)}_${now.slice(0, 19).replaceAll(/[-:]/g, "")}Z.zip`;
  const size = await withFolder(deps, async (folder) => {
    const file = join(folder, "snapshot.zip");
    await pack(deps, { workspace, now, files, file });
    await storeSnapshot(deps, name, file);
    return sizeOf(file);
  });
  return { name, size, content: await openSnapshot(deps, name) };
}

/** Sizes of the files by path. Throws `payload_too_large`. */
async function filesOf(deps: FileDeps, workspace: string): Promise<Map<string, number>> {
  const files = new Map<string, number>();
  let bytes = 0;
  const take = (path: string, size: number): void => {
    if (!isInsidePath(path)) return;
    files.set(path, size);
    bytes += size;
    if (files.size > SNAPSHOT_ENTRIES_MAX || bytes > SNAPSHOT_CONTENT_MAX_BYTES)
      throw new ApiError(
        "payload_too_large",
        `The workspace must have at most ${SNAPSHOT_ENTRIES_MAX} files of ${SNAPSHOT_CONTENT_MAX_BYTES} bytes in all`,
      );
  };
  if (deps.sharesWorkspaces) {
    for (const [path, entry] of await sharedEntries(deps, workspace))
      if ("sha256" in entry) take(path, entry.bytes);
    return files;
  }
  const seen = await scanFolder(folderOf(deps, workspace)).catch((error: unknown) => {
    if ((error as { code?: unknown }).code === "ENOENT")
      return new Map() as Awaited<ReturnType<typeof scanFolder>>;
    throw error;
  });
  for (const [path, entry] of seen) if (entry.kind === "file") take(path, entry.bytes);
  return files;
}

interface Packing {
  readonly workspace: string;
  readonly now: string;
  readonly files: ReadonlyMap<string, number>;
  readonly file: string;
}

/** Files up to this size are read concurrently and packed without streams, bytes. */
const SMALL_BYTES = 64 * 1024;
/** Maximum number of small files read concurrently; together they take at most 4 MiB. */
const SMALL_AT_ONCE = 64;
/** Smaller files are stored uncompressed, bytes. */
const COMPRESSED_FROM_BYTES = 128;

async function pack(deps: SnapshotDeps, { workspace, now, files, file }: Packing): Promise<void> {
  const { ZipFile } = await import("yazl");
  const zip = new ZipFile();
  const output = zip.outputStream as PassThrough;
  const options = { mtime: new Date(now), mode: 0o644 };
  /** Resolves when the content has been packed. */
  const add = (path: string, content: AsyncIterable<Uint8Array | string>): Promise<void> =>
    new Promise((resolve, reject) => {
      const source = Readable.from(content, { objectMode: false });
      source.once("end", resolve).once("error", reject);
      zip.addReadStream(source, path, options);
    });
  const packed = packedEntries(zip);
  const addSmall = (path: string, content: Buffer): void =>
    zip.addBuffer(content, path, { ...options, compress: content.length >= COMPRESSED_FROM_BYTES });

  const fill = async (): Promise<void> => {
    const manifest = { format: "weft-snapshot", version: 1, workspace, created_at: now };
    addSmall(MANIFEST, Buffer.from(JSON.stringify(manifest)));
    const page = { offset: 0, limit: SNAPSHOT_RECORDS_MAX };
    await add(RECORD_FILES.asset, jsonl((await listAssets(deps, { workspace }, page)).items));
    const vulnerabilities = await listVulnerabilities(deps, { workspace }, page);
    await add(RECORD_FILES.vulnerability, jsonl(vulnerabilities.items));
    await add(RECORD_FILES.artifact, jsonl((await listArtifacts(deps, { workspace }, page, false)).items));
    const open = await workspaceOpener(deps, workspace);
    const { small = [], large = [] } = Object.groupBy(files.keys(), (path) =>
      (files.get(path) ?? 0) <= SMALL_BYTES ? "small" : "large",
    );
    for (let start = 0; start < small.length; start += SMALL_AT_ONCE) {
      const paths = small.slice(start, start + SMALL_AT_ONCE);
      const opened = await Promise.all(paths.map(async (path) => readSmall(await open(path))));
      for (const [index, path] of paths.entries()) {
        const found = opened[index];
        if (found === undefined || Buffer.isBuffer(found)) addSmall(path, found ?? Buffer.alloc(0));
        // The file has grown since it was listed.
        else await add(path, found.content);
      }
      if (output.writableNeedDrain) await once(output, "drain");
      packed.setAside();
    }
    for (const path of large) {
      await add(path, contentOf(await open(path)));
      packed.setAside();
    }
    packed.putBack();
    zip.end();
  };
  const failed = new Promise<never>((_, reject) => zip.on("error", reject));
  const written = pipeline(output, createWriteStream(file));
  await Promise.race([Promise.all([fill(), written]), failed]);
}

/** `FILE_DATA_DONE` of yazl. */
const PACKED_STATE = 3;

/**
 * Moves packed entries out of yazl's list until the end: yazl searches its list from the start at each step, which
 * takes 20 s of CPU for 50,000 files.
 */
function packedEntries(zip: ZipFile): { setAside(): void; putBack(): void } {
  const open = zip as unknown as { entries: { readonly state: number }[] };
  const aside: { readonly state: number }[] = [];
  return {
    setAside: () => {
      const next = open.entries.findIndex(({ state }) => state !== PACKED_STATE);
      aside.push(...open.entries.splice(0, next < 0 ? open.entries.length : next));
    },
    putBack: () => {
      open.entries = [...aside, ...open.entries];
    },
  };
}

async function readSmall(file: OpenedFile | undefined): Promise<Buffer | OpenedFile | undefined> {
  if (file === undefined || file.size > SMALL_BYTES) return file;
  const parts: Uint8Array[] = [];
  for await (const part of file.content) parts.push(part);
  return Buffer.concat(parts);
}

/** A file that was deleted since it was listed is empty. */
async function* contentOf(file: OpenedFile | undefined): AsyncGenerator<Uint8Array> {
  if (file !== undefined) yield* file.content;
}

async function* jsonl(pages: AsyncIterable<readonly unknown[]>): AsyncGenerator<string> {
  for await (const page of pages) {
    const lines = page.map((record) => `${JSON.stringify(record)}\n`).join("");
    if (lines !== "") yield lines;
  }
}
