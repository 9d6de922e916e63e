import * as z from "zod";
import { ApiError } from "../../errors.ts";
import {
  type AuthorizationDeps,
  authorize,
  type DocumentAccess,
  type Viewer,
} from "../authorization/document-access.ts";
import { type StoredVersion, versionBlob, versionKey, versionsTable } from "../tables/versions.ts";
import { removeVersionBlobs } from "../updates/version-retention.ts";
import { type ContentDeps, openVersion } from "./read.ts";
import { type SaveDeps, saveContent } from "./save.ts";

/** Page sizes. Reference 1.7. */
const PAGE_MAX = 50;
const PAGE_DEFAULT = 20;

/** The version id in a path. A malformed id returns 404. */
export const versionIdParam = z.string().regex(/^[A-Za-z0-9._+\-=~]{1,1024}$/);

export const versionsQuery = z.object({
  version_id: z.string().max(1024).optional().describe("Last version id of the previous page"),
  page_size: z
    .string()
    .regex(/^-?\d{1,9}$/, "A valid integer is required.")
    .default(String(PAGE_DEFAULT))
    .transform(Number)
    .pipe(z.number().min(1).max(PAGE_MAX))
    .meta({ type: "integer", minimum: 1, maximum: PAGE_MAX, default: PAGE_DEFAULT }),
});

/** A page of versions, latest first. Reference 1.7. */
export const versionsPage = z.object({
  next_version_id_marker: z.string().describe("Marker of the next page; empty on the last page"),
  is_truncated: z.boolean(),
  versions: z.array(
    z.object({
      etag: z.string(),
      is_latest: z.boolean(),
      last_modified: z.string(),
      version_id: z.string(),
    }),
  ),
  count: z.int().describe("Number of versions on this page"),
});
export type VersionsPage = z.infer<typeof versionsPage>;

/**
 * Returns a document whose versions the viewer may list. Throws `forbidden`, also for anonymous callers, and
 * `not_found`. Reference 1.7.
 */
export async function authorizeVersions(
  deps: AuthorizationDeps,
  viewer: Viewer,
  id: string,
): Promise<DocumentAccess> {
  if (viewer === undefined) throw new ApiError("forbidden", "Authentication required.");
  return authorize(deps, viewer, id, "versions_list");
}

/**
 * Lists earlier versions saved since the viewer first had access. Throws `forbidden`, also for anonymous viewers, and
 * `not_found`. Reference 1.7.
 */
export async function listVersions(
  deps: ContentDeps,
  viewer: Viewer,
  id: string,
  { version_id: after, page_size }: z.output<typeof versionsQuery>,
): Promise<VersionsPage> {
  const access = await authorizeVersions(deps, viewer, id);
  const latest = access.document.content?.version;
  const empty = { next_version_id_marker: "", is_truncated: false, versions: [], count: 0 };
  if (latest === undefined) return empty;
  const before = after === undefined || after === "" || after > latest ? latest : after;
  const query = { pk: id, sk: { before }, reverse: true, limit: page_size + 1 };
  const { items } = await deps.tables.query(versionsTable, query);
  const visible = items.filter((version) => isVisible(access, version));
  const versions = visible.slice(0, page_size).map(({ sk, etag, last_modified }) => {
    return { etag: `"${etag}"`, is_latest: false, last_modified, version_id: sk };
  });
  const more = visible.length > page_size;
  const next_version_id_marker = more ? (versions.at(-1)?.version_id ?? "") : "";
  return { next_version_id_marker, is_truncated: more, versions, count: versions.length };
}

/** Versions saved before the viewer first had access are hidden. */
const isVisible = ({ since }: DocumentAccess, { last_modified }: StoredVersion): boolean =>
  since !== null && last_modified >= since;

/** Returns a version and a stream of its bytes. Throws `not_found`, `unauthorized`, `forbidden`. */
export async function readVersion(
  deps: ContentDeps,
  viewer: Viewer,
  id: string,
  version: string,
): Promise<{ readonly version: StoredVersion; readonly bytes: AsyncIterable<Uint8Array> }> {
  const access = await authorize(deps, viewer, id, "versions_retrieve");
  const found = await visibleVersion(deps, access, version);
  return { version: found, bytes: await openVersion(deps, id, found.sk) };
}

async function visibleVersion(
  { tables }: Pick<ContentDeps, "tables">,
  access: DocumentAccess,
  version: string,
): Promise<StoredVersion> {
  const found = await tables.get(versionsTable, versionKey(access.document.id, version));
  if (found === undefined || !isVisible(access, found)) throw new ApiError("not_found", "Version not found.");
  return found;
}

export interface RestoreOptions {
  readonly ifMatch: string | undefined;
  /** Takes the lock of a save; called once the caller is known to have the right. */
  lock(): Promise<void>;
}

/**
 * Sets the content back to a version: as an edit, which is merged with those of connected editors, or as a whole where
 * that is not possible. Throws `precondition_failed` if `ifMatch` does not match the current content, and what reading a
 * version, `lock` and saving content throw.
 */
export async function restoreVersion(
  deps: SaveDeps,
  viewer: Viewer,
  id: string,
  version: string,
  { ifMatch, lock }: RestoreOptions,
): Promise<void> {
  const { kind } = await visibleVersion(
    deps,
    await authorize(deps, viewer, id, "versions_retrieve"),
    version,
  );
  const access = await authorize(deps, viewer, id, "content_patch");
  await lock();
  const bytes = await deps.blobs.get(versionBlob(id, version));
  if (bytes === undefined) throw new Error(`the bytes of version ${version} of document ${id} are missing`);
  await saveContent(deps, access, { bytes, kind }, { ifMatch, isRestored: true });
}

/**
 * Deletes a version permanently. Throws `bad_request` for the latest version, which is the document's content;
 * `not_found`, `unauthorized`, `forbidden`. Reference 1.7.
 */
export async function deleteVersion(
  deps: SaveDeps,
  viewer: Viewer,
  id: string,
  version: string,
): Promise<void> {
  const access = await authorize(deps, viewer, id, "versions_destroy");
  const { sk } = await visibleVersion(deps, access, version);
  if (sk === access.document.content?.version)
    throw new ApiError("bad_request", "The latest version is the document's content and cannot be deleted.");
  await deps.tables.write([{ op: "delete", table: versionsTable, key: versionKey(id, sk) }]);
  await removeVersionBlobs(deps, id, [sk]);
}
