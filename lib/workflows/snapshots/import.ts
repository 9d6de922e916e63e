import { createReadStream, createWriteStream } from "node:fs";
import { cp, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pipeline } from "node:stream/promises";
import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { labelText } from "../../events/label-text.ts";
import { type EventDeps, type EventDraft, emitEvents } from "../../events/publish.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { type FileDeps, folderOf } from "../artifacts/open-artifact.ts";
import { eventBatches } from "../findings/event-batches.ts";
import { isRecord } from "../script-library/argument-values.ts";
import type { CatalogReader } from "../store/catalog.ts";
import { workspaceChangedEntries } from "../workspaces/changed-event.ts";
import { scanEntry } from "../workspaces/folder.ts";
import { type Changes, contentKey, layerKey } from "../workspaces/layers.ts";
import { workspaceKey, workspacesTable } from "../workspaces/table.ts";
import { workspaceName } from "../workspaces/workspace-name.ts";
import { type WorkspaceDeps, workspaceWrites } from "../workspaces/workspace-records.ts";
import {
  MANIFEST,
  RECORD_FILES,
  RECORDS_FOLDER,
  SNAPSHOT_LINE_MAX_LENGTH,
  SNAPSHOT_RECORDS_MAX,
} from "./limits.ts";
import { type FolderDeps, openSnapshot, withFolder } from "./store.ts";
import { type UnpackedFile, unpackArchive } from "./unpack.ts";

export const snapshotImportResponse = z
  .object({
    message: z.string(),
    workspace: z.string(),
    data_source: z.literal("imported"),
    files_count: z.int(),
    records_count: z.int().describe("Assets, vulnerabilities and artifacts in the snapshot"),
  })
  .meta({ id: "SnapshotImported" });

export type ImportDeps = EventDeps &
  WorkspaceDeps &
  FileDeps &
  FolderDeps &
  Pick<Ports, "tables" | "blobs" | "clock" | "ids"> & { readonly catalog: CatalogReader };

export interface SnapshotImport {
  /** The archive itself, the name of a stored snapshot, or a local file. */
  readonly archive: Uint8Array | { readonly name: string } | { readonly file: string };
  /** Default: the workspace of the snapshot. */
  readonly workspace: string | undefined;
  /** Whether to replace an existing workspace. */
  readonly force: boolean;
  /** Whether to import only the files. */
  readonly filesOnly: boolean;
  /** A workspace that is never replaced. */
  readonly spare?: string;
  /** The run that imports it, as the cause of its events. */
  readonly cause?: Pick<EventDraft, "run_id" | "workflow_name" | "hop">;
  /** Time limit, milliseconds; default: none. */
  readonly maxMs?: number;
}

const manifestSchema = z.object({ workspace: labelText.min(1).max(1024) });

/**
 * Imports a workspace from a snapshot: unpacks and validates all of it, replaces the files by renaming folders, then creates
 * the records, each new one with its event. Throws `bad_request`, `conflict`, `not_found`, and `payload_too_large`,
 * also if it takes longer than `maxMs`.
 */
export async function importSnapshot(
  deps: ImportDeps,
  { archive, workspace: wanted, force, filesOnly, spare, cause = {}, maxMs = Infinity }: SnapshotImport,
): Promise<z.infer<typeof snapshotImportResponse>> {
  const endsAt = performance.now() + maxMs;
  const checkTime = (where: string): void => {
    if (performance.now() <= endsAt) return;
    throw new ApiError("payload_too_large", `snapshot: takes longer than ${maxMs / 1000} s; ${where}`);
  };
  return withFolder(deps, async (folder) => {
    const file = "file" in archive ? archive.file : join(folder, "snapshot.zip");
    if (archive instanceof Uint8Array) await writeFile(file, archive);
    else if ("name" in archive)
      await pipeline(await openSnapshot(deps, archive.name), createWriteStream(file));
    const content = join(folder, "content");
    await mkdir(content);
    const unpacked = await unpackArchive(file, content, () => checkTime("nothing was imported"));
    const workspace = wanted ?? (await namedWorkspace(content, unpacked));
    if (spare !== undefined && workspaceName(workspace) === workspaceName(spare))
      throw new ApiError("conflict", "A run cannot import its own workspace");
    const drafts = filesOnly ? [] : await recordsIn(content, unpacked, workspace);
    const files = unpacked.filter(({ path }) => !path.startsWith(RECORDS_FOLDER));
    await rm(join(content, RECORDS_FOLDER), { recursive: true, force: true });
    checkTime("nothing was imported");
    if (deps.sharesWorkspaces)
      await placeShared(deps, { workspace, content, files, force, hop: cause.hop ?? 0 });
    else await placeLocal(deps, { workspace, content, force, replaced: join(folder, "replaced") });
    const at = new Date(deps.clock.now()).toISOString();
    await deps.tables.write(await workspaceWrites(deps, [{ workspace, imported: true }], at));
    const caused = drafts.map((draft) => ({ ...draft, ...cause }));
    let done = 0;
    for (const batch of eventBatches(caused)) {
      checkTime(
        `its files and ${done} of ${caused.length} records were imported: import it again for the remaining ones`,
      );
      await emitEvents(deps, batch);
      done += batch.length;
    }
    return {
      message: "Snapshot imported",
      workspace,
      data_source: "imported",
      files_count: files.length,
      records_count: drafts.length,
    };
  });
}

/**
 * Reads the archive of a request: a zip as its body, or as the file of a form. Throws `bad_request` for anything else.
 */
export async function archiveIn({
  bytes,
  contentType,
}: {
  bytes: Uint8Array;
  contentType: string;
}): Promise<Uint8Array> {
  if (!/^multipart\/form-data\b/i.test(contentType)) return bytes;
  let file: unknown;
  try {
    const headers = { "content-type": contentType };
    file = (await new Response(Buffer.from(bytes), { headers }).formData()).get("file");
  } catch (error) {
    throw new ApiError("bad_request", "body: must be a form", { cause: error });
  }
  if (!(file instanceof Blob)) throw new ApiError("bad_request", "file: must be a file of the form");
  return new Uint8Array(await file.arrayBuffer());
}

async function namedWorkspace(content: string, unpacked: readonly UnpackedFile[]): Promise<string> {
  if (!unpacked.some(({ path, bytes }) => path === MANIFEST && bytes < SNAPSHOT_LINE_MAX_LENGTH))
    throw new ApiError("bad_request", "workspace: is required, because the archive does not name one");
  try {
    return manifestSchema.parse(JSON.parse(await readFile(join(content, MANIFEST), "utf8"))).workspace;
  } catch {
    throw new ApiError("bad_request", `snapshot: ${MANIFEST} must name a workspace`);
  }
}

/** Throws `bad_request` for a line that is not a record. */
async function recordsIn(
  content: string,
  unpacked: readonly UnpackedFile[],
  workspace: string,
): Promise<EventDraft[]> {
  const drafts: EventDraft[] = [];
  for (const [kind, path] of Object.entries(RECORD_FILES)) {
    if (!unpacked.some((one) => one.path === path)) continue;
    let number = 0;
    for await (const line of createInterface({ input: createReadStream(join(content, path)) })) {
      number += 1;
      const data = line.length > SNAPSHOT_LINE_MAX_LENGTH ? undefined : objectIn(line);
      if (data === undefined || number > SNAPSHOT_RECORDS_MAX)
        throw new ApiError("bad_request", `snapshot: line ${number} of ${path} is not a record`);
      const effect = kind as keyof typeof RECORD_FILES;
      drafts.push({ topic: effect, effect, source: "snapshot", workspace, data });
    }
  }
  return drafts;
}

function objectIn(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const taken = (): ApiError =>
  new ApiError("conflict", "The workspace already exists: set force to replace its files");

/** Creates the folder beside the others and renames it, so that readers see either the old files or the new ones. */
async function placeLocal(
  deps: ImportDeps,
  {
    workspace,
    content,
    force,
    replaced,
  }: Pick<Placing, "workspace" | "content" | "force"> & {
    /** Folder for the replaced files, which is removed with its parent. */
    readonly replaced: string;
  },
): Promise<void> {
  const target = folderOf(deps, workspace);
  const beside = join(deps.paths.workspacesDir, `.weft-${deps.ids.random()}`);
  const there = await scanEntry(target);
  if (there !== undefined && !force) throw taken();
  await mkdir(deps.paths.workspacesDir, { recursive: true });
  try {
    await moveFolder(content, `${beside}-new`);
    if (there !== undefined) await rename(target, `${beside}-old`);
    await rename(`${beside}-new`, target);
    if (there !== undefined) await rename(`${beside}-old`, replaced).catch(ignoreOtherFileSystem);
  } finally {
    await rm(`${beside}-new`, { recursive: true, force: true });
    await rm(`${beside}-old`, { recursive: true, force: true });
  }
}

function ignoreOtherFileSystem(error: unknown): void {
  if ((error as { code?: unknown }).code !== "EXDEV") throw error;
}

/** Copies the folder if it is on another file system. */
async function moveFolder(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    ignoreOtherFileSystem(error);
    await cp(from, to, { recursive: true });
  }
}

interface Placing {
  readonly workspace: string;
  readonly content: string;
  readonly files: readonly UnpackedFile[];
  readonly force: boolean;
  /** Hop of the events that it causes. */
  readonly hop: number;
}

/** Stores one layer that replaces all earlier ones. */
async function placeShared(
  deps: ImportDeps,
  { workspace, content, files, force, hop }: Placing,
): Promise<void> {
  const name = workspaceName(workspace);
  const key = workspaceKey(name);
  const before = await deps.tables.get(workspacesTable, key);
  if (before !== undefined && before.layers.length > 0 && !force) throw taken();
  const changes: Record<string, Changes[string]> = {};
  for (const { path, bytes, sha256 } of files) {
    await deps.blobs.putFile(contentKey(name, sha256), join(content, path));
    changes[path] = { sha256, bytes, mode: 0o644 };
  }
  const layer = layerKey(name, deps.ids.random());
  await deps.blobs.put(layer, JSON.stringify(changes));
  const put: Write = {
    op: "put",
    table: workspacesTable,
    item: { ...key, layers: [layer], version: (before?.version ?? 0) + 1 },
    when: [before === undefined ? ["pk", "missing"] : ["version", "=", before.version]],
  };
  const publish = await workspaceChangedEntries(deps, {
    workspace: name,
    layer,
    earlier: before?.layers ?? [],
    hop,
  });
  const outcome = await deps.outbox.commit({ writes: [put], publish });
  if (!outcome.ok) throw new ApiError("conflict", "The workspace is being changed concurrently, try again");
}
