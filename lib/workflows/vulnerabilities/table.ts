import { derivedId } from "../../platform/ids.ts";
import type { Key, TableSpec } from "../../platform/tables.ts";
import type { List } from "../lists/list.ts";
import type { Counter } from "../workspaces/workspace-records.ts";

/** A vulnerability; additional fields are stored as reported. Reference 6. */
export interface StoredVulnerability extends Key {
  readonly id: number;
  readonly workspace: string;
  /** Key of its identity, by which a repeated finding is recognized. */
  readonly identity: string;
  readonly vuln_title: string;
  readonly severity: string;
  readonly confidence: string;
  readonly asset_value: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly last_seen_at: string;
  /** Id of the pending entry that was written with its last change. */
  readonly list_token: string;
  /** Incremented by every change except that of `last_seen_at`; the condition of the next change. */
  readonly revision: number;
}

/** Maps ids to records, and identities to ids. */
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

/** The severities that are counted; other values are allowed. */
export const SEVERITIES = ["critical", "high", "medium", "low", "info"] as const;

const COUNTED: Readonly<Record<string, Counter>> = {
  critical: "vuln_critical",
  high: "vuln_high",
  medium: "vuln_medium",
  low: "vuln_low",
  potential: "vuln_potential",
};

/** The change of the workspace's counters for a vulnerability of this severity. */
export function countsOf(severity: string, number: 1 | -1): Partial<Record<Counter, number>> {
  const counter = Object.hasOwn(COUNTED, severity) ? COUNTED[severity] : undefined;
  return { total_vulns: number, ...(counter === undefined ? {} : { [counter]: number }) };
}

/** Fields that identify a finding. */
export const IDENTITY_FIELDS = ["finding_hash", "vuln_info", "vuln_title", "asset_value"] as const;

/** The identity of a finding: its hash if it has one, otherwise what was found and where. */
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

/** The field by which vulnerabilities are listed: an index never removes ids, so a deleted record loses this value. */
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
  tokenOf: ({ list_token }) => list_token,
  orderOf: ({ created_at, id }) => `${created_at}#${String(id).padStart(12, "0")}`,
  deletesWhenGone: false,
};
