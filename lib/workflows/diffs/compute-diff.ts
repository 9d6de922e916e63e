import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { labelText } from "../../events/label-text.ts";
import type { Ports } from "../../platform/ports.ts";
import { listAssets } from "../assets/list.ts";
import type { ListDeps } from "../lists/list.ts";
import type { Listing } from "../lists/read-list.ts";
import { listVulnerabilities } from "../vulnerabilities/list.ts";

/** Maximum number of records compared, and of JSON characters in one response or stored diff. */
const RECORDS_MAX = 1_000_000;
const SHOWN_MAX_LENGTH = 3_000_000;
const KEPT_MAX_LENGTH = 300_000;

const ZONED = /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/i;
const LOCAL = /^\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}:\d{2})?$/;
const SECONDS = /^\d{1,11}$/;

/**
 * A time in a query, as ISO 8601: RFC 3339, seconds since the epoch, a date, or a date and a time (UTC). Reference
 * 1.6.
 */
export const timeQuery = z.string("must be given").transform((text, context) => {
  const time = millisecondsOf(text.trim());
  if (Number.isFinite(time)) return new Date(time).toISOString();
  context.addIssue({
    code: "custom",
    message: "must be a time: RFC 3339, seconds, or YYYY-MM-DD[ HH:MM:SS]",
  });
  return z.NEVER;
});

function millisecondsOf(text: string): number {
  if (SECONDS.test(text)) return Number(text) * 1000;
  if (ZONED.test(text)) return Date.parse(text.replace(" ", "T").toUpperCase());
  if (!LOCAL.test(text)) return Number.NaN;
  const [date = "", time = "00:00:00"] = text.split(/[ T]/);
  const parsed = Date.parse(`${date}T${time}Z`);
  // Rejects dates that do not exist, such as February 31.
  return Number.isFinite(parsed) && new Date(parsed).toISOString().startsWith(date) ? parsed : Number.NaN;
}

export const diffQuery = z.object({
  workspace: z.string("must be given").min(1, "must be given").max(1024).pipe(labelText),
  from: timeQuery,
  to: z
    .union([z.literal("").transform(() => undefined), timeQuery])
    .optional()
    .describe("Now where it is not said"),
});

const records = z.array(z.looseObject({}));
export const diffAnswer = z
  .object({
    workspace_name: z.string(),
    from_time: z.string(),
    to_time: z.string(),
    added: records,
    removed: records,
    changed: records,
    truncated: z.boolean().describe("Whether more is counted than shown"),
    summary: z.object({ total_added: z.int(), total_removed: z.int(), total_changed: z.int() }),
  })
  .meta({ id: "Diff" });
export type Diff = z.infer<typeof diffAnswer>;

interface Timed {
  readonly created_at: string;
  readonly updated_at: string;
  readonly last_seen_at: string;
}

export type DiffDeps = ListDeps & Pick<Ports, "clock">;
const ALL = { offset: 0, limit: RECORDS_MAX };

/** The changes of a workspace's assets between two times. Throws `bad_request`. */
export const diffAssets = (deps: DiffDeps, query: z.infer<typeof diffQuery>): Promise<Diff> =>
  diffOf(deps, query, listAssets(deps, { workspace: query.workspace }, ALL), SHOWN_MAX_LENGTH);

/** The changes of a workspace's vulnerabilities between two times. Throws `bad_request`. */
export const diffVulnerabilities = (deps: DiffDeps, query: z.infer<typeof diffQuery>): Promise<Diff> =>
  diffOf(deps, query, listVulnerabilities(deps, { workspace: query.workspace }, ALL), SHOWN_MAX_LENGTH);

/** Kinds of records that diffs are stored for. */
export type DiffKind = "assets" | "vulnerabilities";

/** A diff to be stored: the same totals, with fewer records. Throws `bad_request`. */
export const diffToKeep = (
  deps: DiffDeps,
  kind: DiffKind,
  query: z.infer<typeof diffQuery>,
): Promise<Diff> => {
  const list = kind === "assets" ? listAssets : listVulnerabilities;
  return diffOf(deps, query, list(deps, { workspace: query.workspace }, ALL), KEPT_MAX_LENGTH);
};

/**
 * Added: first seen between the times. Changed: seen before, and changed between the times. Removed: not seen since
 * the first time.
 */
async function diffOf(
  deps: DiffDeps,
  { workspace, from, to = new Date(deps.clock.now()).toISOString() }: z.infer<typeof diffQuery>,
  listing: Promise<Listing<Timed & Readonly<Record<string, unknown>>>>,
  most: number,
): Promise<Diff> {
  const { items } = await listing;
  if (from > to) throw new ApiError("bad_request", "from: must not be later than to");
  const shown = { added: [], removed: [], changed: [] } as Record<
    "added" | "removed" | "changed",
    Record<string, unknown>[]
  >;
  const totals = { added: 0, removed: 0, changed: 0 };
  let left = most;
  for await (const page of items) {
    for (const record of page) {
      const kind = kindOf(record, from, to);
      if (kind === undefined) continue;
      totals[kind] += 1;
      if (left <= 0) continue;
      left -= JSON.stringify(record).length;
      if (left > 0) shown[kind].push({ ...record });
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

function kindOf(
  { created_at, updated_at, last_seen_at }: Timed,
  from: string,
  to: string,
): "added" | "removed" | "changed" | undefined {
  if (created_at > to) return undefined;
  if (created_at >= from) return "added";
  if (last_seen_at < from) return "removed";
  return updated_at >= from && updated_at <= to ? "changed" : undefined;
}
