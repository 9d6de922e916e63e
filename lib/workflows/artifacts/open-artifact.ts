import { constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { join, posix } from "node:path";
import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { scanEntry } from "../workspaces/folder.ts";
import { contentKey, type Entry, foldLayers, readLayer } from "../workspaces/layers.ts";
import { workspaceKey, workspacesTable } from "../workspaces/table.ts";
import { workspaceName } from "../workspaces/workspace-name.ts";
import { isInsidePath } from "./artifact-paths.ts";

/** Dependencies for finding files of workspaces, in the local folder or in shared storage. */
export type FileDeps = Pick<Ports, "tables" | "blobs"> & {
  readonly paths: { readonly workspacesDir: string };
  readonly sharesWorkspaces: boolean;
};

export interface OpenedFile {
  readonly size: number;
  readonly content: AsyncIterable<Uint8Array>;
}

/** Bytes per read. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Opens a file of a workspace. No path or link reaches outside the workspace's folder. Throws `bad_request` for an
 * invalid path, `not_found`.
 */
export async function openArtifact(deps: FileDeps, workspace: string, path: string): Promise<OpenedFile> {
  if (!isInsidePath(path))
    throw new ApiError("bad_request", "artifact_path: must be a path below the workspace");
  const opened = deps.sharesWorkspaces
    ? await openShared(deps, workspace, path)
    : await openLocal(deps, workspace, path);
  if (opened === undefined) throw new ApiError("not_found", "Artifact not found");
  return opened;
}

/**
 * Opens many files of a workspace; shared look-ups are done once. The opener resolves to undefined if there is no file
 * at the path inside the workspace.
 */
export async function workspaceOpener(
  deps: FileDeps,
  workspace: string,
): Promise<(path: string) => Promise<OpenedFile | undefined>> {
  if (deps.sharesWorkspaces) {
    const entries = await sharedEntries(deps, workspace);
    return (path) => openEntry(deps, workspace, entries.get(path));
  }
  const folders = new Map<string, Promise<string | undefined>>();
  return async (path) => {
    if (!isInsidePath(path)) return undefined;
    const above = posix.dirname(path);
    let folder = folders.get(above);
    if (folder === undefined) {
      folder = realPathOf(deps, workspace, above);
      folders.set(above, folder);
    }
    const file = await folder;
    return file === undefined ? undefined : openRealPath(join(file, posix.basename(path)));
  };
}

/** The kind of entry at a path; undefined if it is missing or leads out of the workspace. */
export async function kindAt(
  deps: FileDeps,
  workspace: string,
  path: string,
): Promise<"file" | "folder" | undefined> {
  if (!isInsidePath(path)) return undefined;
  if (deps.sharesWorkspaces) {
    const entries = await sharedEntries(deps, workspace);
    const entry = entries.get(path);
    if (entry !== undefined && "sha256" in entry) return "file";
    const isFolder =
      (entry !== undefined && "folder" in entry) ||
      [...entries.keys()].some((one) => one.startsWith(`${path}/`));
    return isFolder ? "folder" : undefined;
  }
  const file = await realPathOf(deps, workspace, path);
  const seen = file === undefined ? undefined : await scanEntry(file);
  return seen?.kind === "file" || seen?.kind === "folder" ? seen.kind : undefined;
}

/** The file's real path; undefined if a folder on the path is a link. */
async function realPathOf(deps: FileDeps, workspace: string, path: string): Promise<string | undefined> {
  const folder = folderOf(deps, workspace);
  const root = await realpath(folder).catch(() => undefined);
  if (root === undefined || (await scanEntry(folder))?.kind !== "folder") return undefined;
  const file = join(root, path);
  return (await realpath(file).catch(() => undefined)) === file ? file : undefined;
}

/** The local folder of a workspace; any workspace name is allowed. */
export const folderOf = ({ paths }: Pick<FileDeps, "paths">, workspace: string): string =>
  join(paths.workspacesDir, workspaceName(workspace));

async function openLocal(deps: FileDeps, workspace: string, path: string): Promise<OpenedFile | undefined> {
  const file = await realPathOf(deps, workspace, path);
  return file === undefined ? undefined : openRealPath(file);
}

/** Opens a file whose folder is known to be inside the workspace. */
async function openRealPath(realPath: string): Promise<OpenedFile | undefined> {
  // Opening a pipe would block, and a link created meanwhile could lead anywhere.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(realPath, flags).catch(() => undefined);
  if (file === undefined) return undefined;
  const info = await file.stat();
  if (!info.isFile()) {
    await file.close();
    return undefined;
  }
  return { size: info.size, content: bytesOf(file, info.size) };
}

/** Reads the size at opening time: a file that keeps growing would never end. */
async function* bytesOf(file: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  try {
    for (let at = 0; at < size; ) {
      const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - at));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) throw new Error("a file became shorter while it was being read");
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** All entries of a workspace in shared storage, by path. */
export async function sharedEntries(deps: FileDeps, workspace: string): Promise<Map<string, Entry>> {
  const layers =
    (await deps.tables.get(workspacesTable, workspaceKey(workspaceName(workspace))))?.layers ?? [];
  return foldLayers(await Promise.all(layers.map((layer) => readLayer(deps.blobs, layer))));
}

async function openShared(deps: FileDeps, workspace: string, path: string): Promise<OpenedFile | undefined> {
  return openEntry(deps, workspace, (await sharedEntries(deps, workspace)).get(path));
}

async function openEntry(
  deps: FileDeps,
  workspace: string,
  entry: Entry | undefined,
): Promise<OpenedFile | undefined> {
  if (entry === undefined || !("sha256" in entry)) return undefined;
  const content = await deps.blobs.stream(contentKey(workspaceName(workspace), entry.sha256));
  return content === undefined ? undefined : { size: entry.bytes, content };
}
