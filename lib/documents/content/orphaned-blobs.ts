import type { Ports } from "../../platform/ports.ts";
import type { StoredDocument } from "../tables/documents.ts";
import { versionBlob, versionKey, versionsTable } from "../tables/versions.ts";

/** Blobs that are looked at in one go. */
const LOOKED_AT = 500;
/** A version is named within this time of its blob's being stored, or never. */
const NAMED_WITHIN_MS = 60 * 60_000;

/** Removes blobs that no version names: of processes that died, or lost a turn. Goes on where old versions are looked for. */
export async function removeOrphanedBlobs(
  { blobs, tables, clock }: Pick<Ports, "blobs" | "tables" | "clock">,
  { id, retention_cursor: from }: Pick<StoredDocument, "id" | "retention_cursor">,
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
}

/** When a version's id was made; never where it is no such id. */
function timeOf(version: string): number {
  const digits = version.replace("-", "").slice(0, 12);
  return /^[0-9a-f]{12}$/.test(digits) && version.length === 36
    ? Number.parseInt(digits, 16)
    : Number.POSITIVE_INFINITY;
}
