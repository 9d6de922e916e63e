import type { Ports } from "../../platform/ports.ts";
import { type StoredVersion, versionsTable } from "../tables/versions.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** What is kept of versions by their age: one of each so long a time. Choice: infra/decisions/0062. */
const RETENTION_RULES = [
  { youngerThanMs: HOUR_MS, oneOfMs: undefined },
  { youngerThanMs: DAY_MS, oneOfMs: 10 * MINUTE_MS },
  { youngerThanMs: 30 * DAY_MS, oneOfMs: DAY_MS },
  { youngerThanMs: Number.POSITIVE_INFINITY, oneOfMs: 7 * DAY_MS },
] as const;

/** Versions that are looked at with each that is saved. */
const LOOKED_AT = 25;

type Aged = Pick<StoredVersion, "sk" | "last_modified">;

/** Versions, oldest first, that a newer one among them stands for by now. The last never goes. */
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
 * The next few versions of a document's that can go, from where the last look ended (`from`), and where this one ended:
 * look after look goes round all of them.
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
