import type { Ports } from "../../platform/ports.ts";
import { type StoredVersion, versionBlob, versionsTable } from "../tables/versions.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Retention by age: one version per period. Choice: infra/decisions/0062. */
const RETENTION_RULES = [
  { youngerThanMs: HOUR_MS, oneOfMs: undefined },
  { youngerThanMs: DAY_MS, oneOfMs: 10 * MINUTE_MS },
  { youngerThanMs: 30 * DAY_MS, oneOfMs: DAY_MS },
  { youngerThanMs: Number.POSITIVE_INFINITY, oneOfMs: 7 * DAY_MS },
] as const;

/** Versions checked with each save. */
const LOOKED_AT = 25;

type Aged = Pick<StoredVersion, "sk" | "last_modified">;

/**
 * Selects the versions that a newer version of the same period supersedes. `versions` is sorted oldest first; the
 * last is always kept.
 */
export function selectSuperseded(versions: readonly Aged[], now: number): string[] {
  return versions.flatMap(({ sk, last_modified }, at) => {
    const next = versions[at + 1];
    const time = Date.parse(last_modified);
    const oneOf = RETENTION_RULES.find(({ youngerThanMs }) => now - time < youngerThanMs)?.oneOfMs;
    if (next === undefined || oneOf === undefined) return [];
    const same = Math.floor(time / oneOf) === Math.floor(Date.parse(next.last_modified) / oneOf);
    return same ? [sk] : [];
  });
}

/**
 * Finds superseded versions in the next batch, starting at `from`, and returns where the batch ended. Successive
 * calls cycle through all versions.
 */
export async function findSupersededVersions(
  { tables, clock }: Pick<Ports, "tables" | "clock">,
  document: string,
  from: string | undefined,
): Promise<{ readonly superseded: readonly string[]; readonly end: string }> {
  const query = { pk: document, limit: LOOKED_AT, ...(from ? { sk: { from } } : {}) };
  const { items } = await tables.query(versionsTable, query);
  const last = items.at(-1);
  const now = clock.now();
  const atEnd =
    last === undefined || items.length < LOOKED_AT || now - Date.parse(last.last_modified) < HOUR_MS;
  return { superseded: selectSuperseded(items, now), end: atEnd ? "" : last.sk };
}

/** Deletes the blobs of removed versions. A failure is only logged, since an orphaned blob is harmless. */
export async function removeVersionBlobs(
  { blobs, log }: Pick<Ports, "blobs" | "log">,
  document: string,
  versions: readonly string[],
): Promise<void> {
  if (versions.length === 0) return;
  await blobs
    .delete(versions.map((version) => versionBlob(document, version)))
    .catch((error: unknown) => log.warn("deleting the blobs of old versions failed", { document, error }));
}
