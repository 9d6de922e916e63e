import { derivedId } from "../../platform/ids.ts";
import type { Key, TableSpec } from "../../platform/tables.ts";
import type { List } from "../lists/list.ts";
import type { Counter } from "../workspaces/workspace-records.ts";

/** A vulnerability; fields beyond these are kept as they came. Reference 6. */
export interface StoredVulnerability extends Key {
  readonly id: number;
  readonly workspace: string;
  /** Key of its identity: what the same finding, told again, is known by. */
  readonly identity: string;
  readonly vuln_title: string;
  readonly severity: string;
  readonly confidence: string;
  readonly asset_value: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly last_seen_at: string;
  /** Of the mark that was written with its last change. */
  readonly listed_mark: string;
  /** Moves with every change but that of when it was last seen: the condition of the next one. */
  readonly revision: number;
}

/** Records by their numbers, and the numbers by what the findings are. */
export interface StoredIdentity extends Key {
  readonly id: number;
}

export const vulnerabilitiesTable: TableSpec<StoredVulnerability> = { name: "vulnerabilities", indexes: {} };
export const vulnerabilityIdentitiesTable: TableSpec<StoredIdentity> = {
  name: "vulnerability-identities",
  indexes: {},
};

const VULNERABILITY_SK = "vulnerability";
export const vulnerabilityKey = (id: number): Key => ({ pk: String(id), sk: VULNERABILITY_SK });
export const identityKey = (identity: string): Key => ({ pk: identity, sk: "identity" });

/** The severities that are counted; any other word may be given. */
export const SEVERITIES = ["critical", "high", "medium", "low", "info"] as const;

const COUNTED: Readonly<Record<string, Counter>> = {
  critical: "vuln_critical",
  high: "vuln_high",
  medium: "vuln_medium",
  low: "vuln_low",
  potential: "vuln_potential",
};

/** What a vulnerability of a severity adds to the counters of its workspace. */
export function countsOf(severity: string, number: 1 | -1): Partial<Record<Counter, number>> {
  const counter = Object.hasOwn(COUNTED, severity) ? COUNTED[severity] : undefined;
  return { total_vulns: number, ...(counter === undefined ? {} : { [counter]: number }) };
}

/** Fields that say which finding it is. */
export const IDENTITY_FIELDS = ["finding_hash", "vuln_info", "vuln_title", "asset_value"] as const;

/** The same finding: by its hash where it has one, else by what was found where. */
export function identityOf(
  workspace: string,
  { finding_hash, vuln_info, vuln_title, asset_value }: Readonly<Record<string, unknown>>,
): string {
  if (typeof finding_hash === "string" && finding_hash !== "")
    return derivedId("vulnerability", workspace, "hash", finding_hash);
  return derivedId(
    "vulnerability",
    workspace,
    "what",
    String(vuln_info ?? ""),
    String(vuln_title ?? ""),
    String(asset_value ?? ""),
  );
}

/** What vulnerabilities are listed by: an index forgets no number, so that one that was taken away loses this. */
export const PRESENT = { field: "present", value: "true" } as const;

export const vulnerabilityList: List<StoredVulnerability> = {
  name: "vulnerabilities",
  table: vulnerabilitiesTable,
  sk: VULNERABILITY_SK,
  indexedFields: ({ workspace, severity, confidence, asset_value }) => ({
    fields: { [PRESENT.field]: PRESENT.value, workspace, severity, confidence },
    text: asset_value,
    final: false,
  }),
  tokenOf: ({ listed_mark }) => listed_mark,
  orderOf: ({ created_at, id }) => `${created_at}#${String(id).padStart(12, "0")}`,
  deletesWhenGone: false,
};
