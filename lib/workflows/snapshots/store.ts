import { createReadStream } from "node:fs";
import { mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";

/** Folder of snapshots; names contain only safe characters. */
const FOLDER = "snapshots/";
const NAME = /^[A-Za-z0-9][A-Za-z0-9._@+=-]{0,180}\.zip$/;
/** Maximum number of snapshots that are listed. */
const LISTED_MAX = 1_000;

export const snapshotRecord = z
  .object({ name: z.string(), path: z.string(), size: z.int(), created_at: z.string() })
  .meta({ id: "Snapshot" });
export const snapshotList = z.object({
  data: z.array(snapshotRecord),
  count: z.int(),
  path: z.string(),
});

/** Throws `bad_request` for an invalid snapshot name. */
function keyOf(name: string): string {
  if (!NAME.test(name)) throw new ApiError("bad_request", "name: must be the name of a snapshot");
  return `${FOLDER}${name}`;
}

/** The stored snapshots, newest first. Reference 1.9. */
export async function listSnapshots({ blobs }: Pick<Ports, "blobs">): Promise<z.infer<typeof snapshotList>> {
  const keys = await blobs.list(FOLDER, { limit: LISTED_MAX });
  const found = await Promise.all(keys.map(async (key) => ({ key, info: await blobs.head(key) })));
  const data = found.flatMap(({ key, info }) =>
    info === undefined
      ? []
      : [
          {
            name: key.slice(FOLDER.length),
            path: key,
            size: info.bytes,
            created_at: new Date(info.modifiedAt).toISOString(),
          },
        ],
  );
  data.sort((one, other) => (one.created_at < other.created_at ? 1 : -1));
  return { data, count: data.length, path: FOLDER };
}

export async function storeSnapshot(
  { blobs }: Pick<Ports, "blobs">,
  name: string,
  file: string,
): Promise<void> {
  await blobs.putFile(keyOf(name), file);
}

/** Throws `not_found`. */
export async function openSnapshot(
  { blobs }: Pick<Ports, "blobs">,
  name: string,
): Promise<AsyncIterable<Uint8Array>> {
  const content = await blobs.stream(keyOf(name));
  if (content === undefined) throw new ApiError("not_found", "Snapshot not found");
  return content;
}

/** Throws `bad_request`, `not_found`. */
export async function deleteSnapshot({ blobs }: Pick<Ports, "blobs">, name: string): Promise<void> {
  const key = keyOf(name);
  if ((await blobs.head(key)) === undefined) throw new ApiError("not_found", "Snapshot not found");
  await blobs.delete([key]);
}

export interface FolderDeps {
  readonly paths: { readonly snapshotsDir: string };
}

/** Creates a temporary folder and removes it after the work. */
export async function withFolder<Made>(
  { paths: { snapshotsDir } }: FolderDeps,
  work: (folder: string) => Promise<Made>,
): Promise<Made> {
  await mkdir(snapshotsDir, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(snapshotsDir, "snapshot-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export const sizeOf = async (file: string): Promise<number> => (await stat(file)).size;
export const bytesOf = (file: string): AsyncIterable<Uint8Array> => createReadStream(file);
