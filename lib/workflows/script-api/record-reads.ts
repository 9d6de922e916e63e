import * as z from "zod";
import type { Listing } from "../../http/page.ts";
import type { Ports } from "../../platform/ports.ts";
import { listAssets } from "../assets/list.ts";
import { computeDiff } from "../diffs/compute-diff.ts";
import type { ListDeps } from "../lists/list.ts";
import { listRuns, toRunRecord } from "../runs/read.ts";
import { runKey, runsTable, type StoredRun } from "../runs/table.ts";
import type { HostCallResult } from "../steps/messages.ts";
import { listVulnerabilities } from "../vulnerabilities/list.ts";
import { toWorkspaceRecord } from "../workspaces/list.ts";
import { workspaceRecordKey, workspaceRecordsTable } from "../workspaces/workspace-records.ts";

/** Records in one result, and characters of their JSON. */
export const READ_RECORDS_MAX = 10_000;
const READ_LENGTH_MAX = 8_000_000;
const NAME_MAX_CHARS = 1024;

const text = z.string("must be text").max(NAME_MAX_CHARS);
/** Empty: the run's own workspace. */
const workspace = text.default("");
export const readQuery = z.discriminatedUnion("of", [
  z.object({
    of: z.literal("assets"),
    workspace,
    status_code: text.optional(),
    asset_type: text.optional(),
  }),
  z.object({
    of: z.literal("vulnerabilities"),
    workspace,
    severity: text.optional(),
    asset_value: text.optional(),
  }),
  z.object({ of: z.literal("totals"), workspace }),
  z.object({ of: z.literal("runs"), workspace }),
  z.object({ of: z.literal("run"), run: text.default("") }),
  z.object({ of: z.literal("asset diff"), workspace }),
  z.object({ of: z.literal("vulnerability diff"), workspace }),
]);
type ReadQuery = z.infer<typeof readQuery>;

export type ReadDeps = ListDeps & Pick<Ports, "tables" | "clock">;

interface Found {
  readonly records: readonly Readonly<Record<string, unknown>>[];
  readonly total: number;
}

/** Reads records for a script: newest first, as many as fit into one result. Reference 3, database. */
export async function readRecords(deps: ReadDeps, run: StoredRun, query: ReadQuery): Promise<HostCallResult> {
  return bounded(await read(deps, run, query));
}

async function read(deps: ReadDeps, run: StoredRun, query: ReadQuery): Promise<Found> {
  if (query.of === "run") {
    const found = query.run === "" ? run : await deps.tables.get(runsTable, runKey(query.run));
    return found === undefined ? { records: [], total: 0 } : { records: [toRunRecord(found)], total: 1 };
  }
  const { of, workspace: named, ...filters } = query;
  const of_workspace = { workspace: named === "" ? run.workspace : named };
  const page = { offset: 0, limit: READ_RECORDS_MAX };
  switch (of) {
    case "assets":
      return taken(await listAssets(deps, { ...of_workspace, ...given(filters) }, page));
    case "vulnerabilities":
      return taken(await listVulnerabilities(deps, { ...of_workspace, ...given(filters) }, page));
    case "runs":
      return taken(await listRuns(deps, of_workspace, page));
    case "totals": {
      const key = workspaceRecordKey(of_workspace.workspace);
      const stored = await deps.tables.get(workspaceRecordsTable, key);
      return stored === undefined
        ? { records: [], total: 0 }
        : { records: [toWorkspaceRecord(stored)], total: 1 };
    }
    case "asset diff":
    case "vulnerability diff": {
      const kind = of === "asset diff" ? "assets" : "vulnerabilities";
      const times = { from: run.started_at ?? run.created_at, to: undefined };
      const { added, removed, changed, summary } = await computeDiff(deps, kind, {
        ...of_workspace,
        ...times,
      });
      const records = [
        ...added.map((record) => ({ change: "added", ...record })),
        ...removed.map((record) => ({ change: "removed", ...record })),
        ...changed.map((record) => ({ change: "changed", ...record })),
      ];
      return { records, total: summary.total_added + summary.total_removed + summary.total_changed };
    }
  }
}

/** Skips empty filters. */
function given(filters: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(filters).filter((entry): entry is [string, string] => (entry[1] ?? "") !== ""),
  );
}

async function taken({ total, items }: Listing<object>): Promise<Found> {
  const records: Record<string, unknown>[] = [];
  for await (const page of items) records.push(...page.map((item) => ({ ...item })));
  return { records, total };
}

function bounded({ records, total }: Found): HostCallResult {
  let left = READ_LENGTH_MAX;
  const kept: Found["records"][number][] = [];
  for (const record of records.slice(0, READ_RECORDS_MAX)) {
    left -= JSON.stringify(record).length;
    if (left < 0) break;
    kept.push(record);
  }
  return { records: kept, total };
}
