import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { listArtifacts } from "../artifacts/list.ts";
import { type FileDeps, folderOf, type OpenedFile, openArtifact, sharedEntries } from "../artifacts/open.ts";
import { isInsidePath } from "../artifacts/paths.ts";
import { listAssets } from "../assets/list.ts";
import type { ListDeps } from "../lists/list.ts";
import { workspaceName } from "../runs/workspace.ts";
import { listVulnerabilities } from "../vulnerabilities/list.ts";
import { scanFolder } from "../workspaces/folder.ts";
import { workspaceRecordKey, workspaceRecordsTable } from "../workspaces/records.ts";
import {
  MANIFEST,
  RECORD_FILES,
  SNAPSHOT_CONTENT_MAX_BYTES,
  SNAPSHOT_ENTRIES_MAX,
  SNAPSHOT_RECORDS_MAX,
} from "./limits.ts";
import { keepSnapshot, openSnapshot, sizeOf, withFolder } from "./store.ts";

export type SnapshotDeps = ListDeps & FileDeps & Pick<Ports, "blobs" | "clock">;

export interface Exported {
  readonly name: string;
  readonly size: number;
  readonly content: AsyncIterable<Uint8Array>;
}

/**
 * Packs a workspace into a zip: its files but for links, its assets, vulnerabilities and artifacts. It is kept, and
 * given. Throws `not_found`, `payload_too_large`.
 */
export async function exportSnapshot(deps: SnapshotDeps, workspace: string): Promise<Exported> {
  const files = await filesOf(deps, workspace);
  const record = await deps.tables.get(workspaceRecordsTable, workspaceRecordKey(workspace));
  if (record === undefined && files.size === 0) throw new ApiError("not_found", "Workspace not found");
  const now = new Date(deps.clock.now()).toISOString();
  const name = `${workspaceName(workspace)}_${now.slice(0, 19).replaceAll(/[-:]/g, "")}Z.zip`;
  const size = await withFolder(async (folder) => {
    const file = join(folder, "snapshot.zip");
    await pack(deps, { workspace, now, files, file });
    await keepSnapshot(deps, name, file);
    return sizeOf(file);
  });
  return { name, size, content: await openSnapshot(deps, name) };
}

/** Sizes of the files by their paths. Throws `payload_too_large`. */
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

/** One file after another is opened, read and packed. */
async function pack(deps: SnapshotDeps, { workspace, now, files, file }: Packing): Promise<void> {
  const { ZipFile } = await import("yazl");
  const zip = new ZipFile();
  const written = pipeline(zip.outputStream, createWriteStream(file));
  const options = { mtime: new Date(now), mode: 0o644 };
  const add = (path: string, open: () => Promise<AsyncIterable<Uint8Array | string>>): void =>
    zip.addReadStreamLazy(path, options, (give) => {
      open().then(
        (content) => give(null, Readable.from(content, { objectMode: false })),
        (error: unknown) => give(error, Readable.from([])),
      );
    });
  const failed = new Promise<never>((_, reject) => zip.on("error", reject));
  const manifest = { format: "weft-snapshot", version: 1, workspace, created_at: now };
  zip.addBuffer(Buffer.from(JSON.stringify(manifest)), MANIFEST, options);
  const page = { offset: 0, limit: SNAPSHOT_RECORDS_MAX };
  add(RECORD_FILES.asset, async () => jsonl((await listAssets(deps, { workspace }, page)).items));
  add(RECORD_FILES.vulnerability, async () =>
    jsonl((await listVulnerabilities(deps, { workspace }, page)).items),
  );
  add(RECORD_FILES.artifact, async () =>
    jsonl((await listArtifacts(deps, { workspace }, page, false)).items),
  );
  for (const path of files.keys())
    add(path, async () => contentOf(await openArtifact(deps, workspace, path).catch(gone)));
  zip.end();
  await Promise.race([written, failed]);
}

/** A file that was taken away since it was listed is empty. */
function gone(error: unknown): undefined {
  if (error instanceof ApiError && error.code === "not_found") return undefined;
  throw error;
}

async function* contentOf(file: OpenedFile | undefined): AsyncGenerator<Uint8Array> {
  if (file !== undefined) yield* file.content;
}

async function* jsonl(pages: AsyncIterable<readonly unknown[]>): AsyncGenerator<string> {
  for await (const page of pages) {
    const lines = page.map((record) => `${JSON.stringify(record)}\n`).join("");
    if (lines !== "") yield lines;
  }
}
