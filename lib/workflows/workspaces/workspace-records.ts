import { derivedId } from "../../platform/ids.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Key, TableSpec, Write } from "../../platform/tables.ts";
import type { List } from "../lists/list.ts";
import type { NumberSequence } from "../lists/number-sequence.ts";
import { pendingWrite } from "../lists/table.ts";

/** Counters that are exact: they change in the transactions of the records. */
export const COUNTERS = [
  "total_assets",
  "total_vulns",
  "vuln_critical",
  "vuln_high",
  "vuln_medium",
  "vuln_low",
  "vuln_potential",
] as const;
export type Counter = (typeof COUNTERS)[number];

/** Counters that workflows report through functions (such as `db_total_urls`). Reference 3, database. */
export const REPORTED = [
  "assets",
  "vulns",
  "urls",
  "subdomains",
  "ips",
  "links",
  "content",
  "archive",
] as const;
export type Reported = (typeof REPORTED)[number];
export type ReportedCounter = `reported_${Reported}`;

/** A workspace with a run, an asset, a vulnerability or an artifact. */
export interface StoredWorkspaceRecord
  extends Key,
    Readonly<Partial<Record<Counter | ReportedCounter, number>>> {
  readonly id: number;
  readonly name: string;
  readonly data_source: string;
  readonly last_run?: string;
  readonly run_workflow?: string;
  readonly created_at: string;
  readonly updated_at: string;
}

export const workspaceRecordsTable: TableSpec<StoredWorkspaceRecord> = { name: "workspaces", indexes: {} };

const WORKSPACE_SK = "workspace";
export const workspaceRecordKey = (workspace: string): Key => ({
  pk: derivedId("workspace", workspace),
  sk: WORKSPACE_SK,
});

/** A workspace has a single pending entry, written when it is created: its name never changes. */
const ONLY_MARK = "";

export const workspaceList: List<StoredWorkspaceRecord> = {
  name: "workspaces",
  table: workspaceRecordsTable,
  sk: WORKSPACE_SK,
  indexedFields: ({ name }) => ({ fields: {}, text: name, final: false }),
  tokenOf: () => ONLY_MARK,
  orderOf: ({ created_at, id }) => `${created_at}#${String(id).padStart(12, "0")}`,
  deletesWhenGone: false,
};

/** A change of a workspace in a commit. */
export interface WorkspaceChange {
  readonly workspace: string;
  readonly add?: Readonly<Partial<Record<Counter | ReportedCounter, number>>>;
  readonly run?: { readonly workflow: string };
  readonly imported?: true;
}

export interface WorkspaceDeps extends Pick<Ports, "tables"> {
  readonly workspaceNumbers: NumberSequence;
  readonly knownWorkspaces: KnownWorkspaces;
}

/** Names of existing workspaces that this process knows: workspaces are never deleted. */
export class KnownWorkspaces {
  static readonly #MAX = 20_000;
  readonly #names = new Set<string>();

  has(name: string): boolean {
    return this.#names.has(name);
  }

  add(name: string): void {
    if (this.#names.size >= KnownWorkspaces.#MAX) this.#names.clear();
    this.#names.add(name);
  }
}

/**
 * Returns the writes of changes to workspaces, one per workspace, and the pending entry of a new one. They have no
 * conditions: counters are added, and concurrent writes of a new workspace are equal. A run writes only a new
 * workspace: with each run, all runs of a workspace would write the same item (`noteRunsOfWorkspaces`).
 */
export async function workspaceWrites(
  deps: WorkspaceDeps,
  changes: readonly WorkspaceChange[],
  at: string,
): Promise<Write[]> {
  const byName = Map.groupBy(changes, ({ workspace }) => workspace);
  const writes: Write[] = [];
  for (const [name, own] of byName) {
    const key = workspaceRecordKey(name);
    const isNew = !(await isThere(deps, name, key));
    const add: Record<string, number> = {};
    for (const [counter, number] of own.flatMap((change) => Object.entries(change.add ?? {})))
      add[counter] = (add[counter] ?? 0) + number;
    const run = own.findLast((change) => change.run !== undefined)?.run;
    const imported = own.some((change) => change.imported === true);
    if (!isNew && Object.keys(add).length === 0 && !imported) continue;
    writes.push({
      op: "update",
      table: workspaceRecordsTable,
      key,
      change: {
        set: {
          updated_at: at,
          ...(run === undefined ? {} : { last_run: at, run_workflow: run.workflow }),
          ...(imported ? { data_source: "imported" } : {}),
        },
        setIfMissing: {
          name,
          created_at: at,
          ...(imported ? {} : { data_source: "local" }),
          ...(isNew ? { id: await deps.workspaceNumbers.next() } : {}),
        },
        ...(Object.keys(add).length === 0 ? {} : { add }),
      },
    });
    if (isNew) writes.push(pendingWrite(workspaceList.name, key.pk, ONLY_MARK));
  }
  return writes;
}

async function isThere(deps: WorkspaceDeps, name: string, key: Key): Promise<boolean> {
  if (deps.knownWorkspaces.has(name)) return true;
  const there = (await deps.tables.get(workspaceRecordsTable, key)) !== undefined;
  if (there) deps.knownWorkspaces.add(name);
  return there;
}

/** A start of a run. */
export interface WorkspaceRun {
  readonly workspace: string;
  readonly workflow_name: string;
  readonly created_at: string;
}

/** Notes the last of some runs, in order, in each workspace. May be repeated. */
export async function noteRunsOfWorkspaces(
  { tables }: Pick<Ports, "tables">,
  runs: readonly WorkspaceRun[],
): Promise<void> {
  const lastRuns = new Map(runs.map((run) => [run.workspace, run]));
  const updates = [...lastRuns.values()].map(({ workspace, workflow_name, created_at }) => {
    const set = { updated_at: created_at, last_run: created_at, run_workflow: workflow_name };
    return tables.update(workspaceRecordsTable, workspaceRecordKey(workspace), { set }, [["pk", "exists"]]);
  });
  await Promise.all(updates);
}
