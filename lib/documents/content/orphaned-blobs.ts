import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import type { StoredDocument } from "../tables/documents.ts";
import { updateBlob, updatesPartition, updatesTable } from "../tables/updates.ts";
import { versionBlob, versionKey, versionsTable } from "../tables/versions.ts";

/** Blobs checked per pass. */
const LOOKED_AT = 500;
/** A blob without a version after this time is orphaned. */
const NAMED_WITHIN_MS = 60 * 60_000;

/**
 * Deletes blobs without a version, left by processes that died or lost a conflict. Continues where the retention pass
 * continues.
 */
export async function removeOrphanedBlobs(
  { blobs, tables, clock }: Pick<Ports, "blobs" | "tables" | "clock">,
  { id, generation, retention_cursor: from }: Pick<StoredDocument, "id" | "generation" | "retention_cursor">,
): Promise<void> {
  const prefix = versionBlob(id, "");
  const after = from ? { after: versionBlob(id, from) } : {};
  const keys = await blobs.list(prefix, { limit: LOOKED_AT, ...after });
  const versions = keys
    .map((key) => key.slice(prefix.length))
    .filter((version) => timeOf(version) < clock.now() - NAMED_WITHIN_MS);
  const named = await tables.batchGet(
    versionsTable,
    versions.map((version) => versionKey(id, version)),
  );
  const known = new Set(named.map(({ sk }) => sk));
  const orphans = versions.filter((version) => !known.has(version));
  if (orphans.length > 0) await blobs.delete(orphans.map((version) => versionBlob(id, version)));
  await removeOrphanedUpdates({ blobs, tables, clock }, { id, generation });
}

/** Deletes the blobs of large updates whose item was never written. */
async function removeOrphanedUpdates(
  { blobs, tables, clock }: Pick<Ports, "blobs" | "tables" | "clock">,
  { id, generation = 0 }: { readonly id: string; readonly generation: number | undefined },
): Promise<void> {
  const prefix = updateBlob(id, "");
  const keys = await blobs.list(prefix, { limit: LOOKED_AT });
  const old = keys.filter((key) => timeOf(key.slice(prefix.length)) < clock.now() - NAMED_WITHIN_MS);
  if (old.length === 0) return;
  const items = await readAll({ tables }, updatesTable, { pk: updatesPartition(id, generation) });
  const named = new Set(items.map(({ blob }) => blob));
  const orphans = old.filter((key) => !named.has(key));
  if (orphans.length > 0) await blobs.delete(orphans);
}

/** Returns the creation time of a version id; infinity if it is not an ordered id. */
function timeOf(version: string): number {
  const digits = version.replace("-", "").slice(0, 12);
  return /^[0-9a-f]{12}$/.test(digits) && version.length === 36
    ? Number.parseInt(digits, 16)
    : Number.POSITIVE_INFINITY;
}
