import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { Listing, OrderedPageRequest } from "../../http/page.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Filter } from "../../ranked-index/view.ts";
import { CONFLICT, retryOnConflict } from "../../retry-on-conflict.ts";
import { indexRecords } from "../lists/index-list.ts";
import type { ListDeps } from "../lists/list.ts";
import { DEFAULT_ORG } from "../lists/organization.ts";
import { mapped, readList } from "../lists/read-list.ts";
import { pendingWrite } from "../lists/table.ts";
import { type WorkspaceDeps, workspaceWrites } from "../workspaces/workspace-records.ts";
import {
  countsOf,
  identityKey,
  PRESENT,
  SEVERITIES,
  type StoredVulnerability,
  vulnerabilitiesTable,
  vulnerabilityIdentitiesTable,
  vulnerabilityKey,
  vulnerabilityList,
} from "./table.ts";

/** A vulnerability in responses; additional fields are as reported. Reference 6. */
export const vulnerabilityRecord = z
  .looseObject({
    id: z.int(),
    workspace: z.string(),
    org_uuid: z.string(),
    vuln_title: z.string(),
    severity: z.string(),
    confidence: z.string(),
    asset_value: z.string(),
    created_at: z.string(),
    updated_at: z.string(),
    last_seen_at: z.string(),
  })
  .meta({ id: "Vulnerability" });
export type VulnerabilityRecord = z.infer<typeof vulnerabilityRecord>;

export interface VulnerabilityFilters {
  readonly workspace?: string | undefined;
  readonly severity?: string | undefined;
  readonly confidence?: string | undefined;
  /** Part of the value; case-insensitive. */
  readonly asset_value?: string | undefined;
}

/** The vulnerabilities that match the filters, newest first unless the page says otherwise. Reference 1.6. */
export async function listVulnerabilities(
  deps: ListDeps,
  filters: VulnerabilityFilters,
  page: OrderedPageRequest,
): Promise<Listing<VulnerabilityRecord>> {
  return mapped(await readList(deps, vulnerabilityList, toFilters(filters), page), toRecord);
}

function toFilters({ asset_value, severity, ...fields }: VulnerabilityFilters): Filter[] {
  const named = { ...fields, severity: severity?.toLowerCase() };
  const filters: Filter[] = Object.entries(named).flatMap(([field, value]) =>
    value === undefined ? [] : [{ field, value }],
  );
  if (asset_value !== undefined) filters.push({ contains: asset_value });
  return [PRESENT, ...filters];
}

export function toRecord(found: StoredVulnerability): VulnerabilityRecord {
  const { pk: _pk, sk: _sk, list_token: _mark, revision: _revision, identity: _identity, ...record } = found;
  return { ...record, org_uuid: DEFAULT_ORG };
}

export const vulnerabilitySummary = z
  .object({ by_severity: z.record(z.string(), z.int()), total: z.int(), workspace: z.string() })
  .meta({ id: "VulnerabilitySummary" });

/** Counts per severity, in one workspace or in all; other severities than the five count as `other`. */
export async function summarizeVulnerabilities(
  deps: ListDeps,
  workspace: string | undefined,
): Promise<z.infer<typeof vulnerabilitySummary>> {
  const count = async (severity?: string): Promise<number> => {
    const filters = toFilters({ workspace, severity });
    return (await readList(deps, vulnerabilityList, filters, { offset: 0, limit: 0 })).total;
  };
  const total = await count();
  const by_severity: Record<string, number> = {};
  for (const severity of SEVERITIES) by_severity[severity] = await count(severity);
  const other = total - Object.values(by_severity).reduce((sum, one) => sum + one, 0);
  if (other > 0) by_severity.other = other;
  return { by_severity, total, workspace: workspace ?? "" };
}

/** The id in a path. */
export const vulnerabilityId = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, "Invalid vulnerability ID")
  .transform(Number);

/** Throws `not_found`. */
export async function getVulnerability(
  deps: Pick<Ports, "tables">,
  id: number,
): Promise<StoredVulnerability> {
  const found = await deps.tables.get(vulnerabilitiesTable, vulnerabilityKey(id));
  if (found === undefined) throw new ApiError("not_found", "Vulnerability not found");
  return found;
}

/** Deletes a vulnerability; if it is reported again, it is a new one. Throws `not_found`. */
export async function deleteVulnerability(
  deps: ListDeps & WorkspaceDeps & Pick<Ports, "ids" | "clock" | "log">,
  id: number,
): Promise<void> {
  const tryToDelete = async () => {
    const { pk, sk, workspace, severity, identity, revision } = await getVulnerability(deps, id);
    const at = new Date(deps.clock.now()).toISOString();
    const outcome = await deps.tables.write([
      { op: "delete", table: vulnerabilitiesTable, key: { pk, sk }, when: [["revision", "=", revision]] },
      { op: "delete", table: vulnerabilityIdentitiesTable, key: identityKey(identity) },
      pendingWrite(vulnerabilityList.name, pk, deps.ids.random(), { gone: true }),
      ...(await workspaceWrites(deps, [{ workspace, add: countsOf(severity, -1) }], at)),
    ]);
    if (!outcome.ok) return CONFLICT;
    try {
      await indexRecords(deps, vulnerabilityList, [pk]);
    } catch (error) {
      // The record is deleted; the sweep corrects the count.
      deps.log.warn("updating the counters of a deleted vulnerability failed", { vulnerability: id, error });
    }
    return;
  };
  await retryOnConflict(tryToDelete, {
    exceeded: () => new ApiError("conflict", "The vulnerability is being changed concurrently, try again"),
  });
}
