import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { labelText } from "../../events/label-text.ts";
import type { Listing } from "../../http/page.ts";
import type { Ports } from "../../platform/ports.ts";
import { listAssets } from "../assets/list.ts";
import type { ListDeps } from "../lists/list.ts";
import { optionalTimeQuery, timeQuery } from "../lists/time-query.ts";
import { listVulnerabilities } from "../vulnerabilities/list.ts";

/** Maximum number of records compared, and of JSON characters in one response. */
const RECORDS_MAX = 1_000_000;
const SHOWN_MAX_LENGTH = 3_000_000;

export const diffQuery = z.object({
  workspace: z.string("is required").min(1, "is required").max(1024).pipe(labelText),
  from: timeQuery,
  to: optionalTimeQuery.describe("Default: now"),
});

const records = z.array(z.looseObject({}));
export const diffResponse = z
  .object({
    workspace_name: z.string(),
    from_time: z.string(),
    to_time: z.string(),
    added: records,
    removed: records,
    changed: records,
    truncated: z.boolean().describe("Whether the counts include records that are not listed"),
    summary: z.object({ total_added: z.int(), total_removed: z.int(), total_changed: z.int() }),
  })
  .meta({ id: "Diff" });
export type Diff = z.infer<typeof diffResponse>;

interface Timed {
  readonly created_at: string;
  readonly updated_at: string;
  readonly last_seen_at: string;
}

export type DiffDeps = ListDeps & Pick<Ports, "clock">;
const ALL = { offset: 0, limit: RECORDS_MAX };

type DiffedList = Listing<Timed & Readonly<Record<string, unknown>>>;
const LISTS = {
  assets: listAssets,
  vulnerabilities: listVulnerabilities,
} satisfies Record<
  string,
  (deps: DiffDeps, filters: { workspace: string }, page: typeof ALL) => Promise<DiffedList>
>;
/** Kinds of records that are compared. */
export type DiffKind = keyof typeof LISTS;

/**
 * Compares a workspace's records at two times. Added: first seen between the times. Changed: seen before, and changed
 * between the times. Removed: not seen since the first time. The totals are exact; the records in the result have at
 * most `most` JSON characters. Throws `bad_request`.
 */
export async function computeDiff(
  deps: DiffDeps,
  kind: DiffKind,
  { workspace, from, to = new Date(deps.clock.now()).toISOString() }: z.infer<typeof diffQuery>,
  most = SHOWN_MAX_LENGTH,
): Promise<Diff> {
  const listing: DiffedList = await LISTS[kind](deps, { workspace }, ALL);
  if (from > to) throw new ApiError("bad_request", "from: must not be later than to");
  const shown = { added: [], removed: [], changed: [] } as Record<
    "added" | "removed" | "changed",
    Record<string, unknown>[]
  >;
  const totals = { added: 0, removed: 0, changed: 0 };
  let left = most;
  for await (const page of listing.items) {
    for (const record of page) {
      const change = changeOf(record, from, to);
      if (change === undefined) continue;
      totals[change] += 1;
      if (left <= 0) continue;
      left -= JSON.stringify(record).length;
      if (left > 0) shown[change].push({ ...record });
    }
  }
  return {
    workspace_name: workspace,
    from_time: from,
    to_time: to,
    ...shown,
    truncated: left <= 0,
    summary: { total_added: totals.added, total_removed: totals.removed, total_changed: totals.changed },
  };
}

function changeOf(
  { created_at, updated_at, last_seen_at }: Timed,
  from: string,
  to: string,
): "added" | "removed" | "changed" | undefined {
  if (created_at > to) return undefined;
  if (created_at >= from) return "added";
  if (last_seen_at < from) return "removed";
  return updated_at >= from && updated_at <= to ? "changed" : undefined;
}
