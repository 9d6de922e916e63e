import * as z from "zod";
import type { Listing, OrderedPageRequest } from "../../http/page.ts";
import type { Filter } from "../../ranked-index/view.ts";
import type { ListDeps } from "../lists/list.ts";
import { DEFAULT_ORG } from "../lists/organization.ts";
import { mapped, readList } from "../lists/read-list.ts";
import { type StoredWorkspaceRecord, workspaceList } from "./workspace-records.ts";

const count = z.int();

/** A workspace in responses. Reference 6. */
export const workspaceRecord = z
  .object({
    id: z.int(),
    name: z.string(),
    org_uuid: z.string(),
    data_source: z.string(),
    total_assets: count.describe(
      "Number of its assets, or the number that workflows reported if that is larger",
    ),
    total_subdomains: count.describe("Number that workflows reported, like all totals below"),
    total_urls: count,
    total_ips: count,
    total_links: count,
    total_content: count,
    total_archive: count,
    total_vulns: count.describe(
      "Number of its vulnerabilities, or the number that workflows reported if that is larger",
    ),
    vuln_critical: count,
    vuln_high: count,
    vuln_medium: count,
    vuln_low: count,
    vuln_potential: count,
    last_run: z.string().nullable(),
    run_workflow: z.string(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: "Workspace" });
export type WorkspaceRecord = z.infer<typeof workspaceRecord>;

/** Returns the workspaces that have records, newest first unless the page says otherwise. Reference 1.6. */
export async function listWorkspaces(
  deps: ListDeps,
  search: string | undefined,
  page: OrderedPageRequest,
): Promise<Listing<WorkspaceRecord>> {
  const filters: Filter[] = search === undefined ? [] : [{ contains: search }];
  return mapped(await readList(deps, workspaceList, filters, page), toWorkspaceRecord);
}

export function toWorkspaceRecord(stored: StoredWorkspaceRecord): WorkspaceRecord {
  return {
    id: stored.id,
    name: stored.name,
    org_uuid: DEFAULT_ORG,
    data_source: stored.data_source,
    total_assets: Math.max(stored.total_assets ?? 0, stored.reported_assets ?? 0),
    total_subdomains: stored.reported_subdomains ?? 0,
    total_urls: stored.reported_urls ?? 0,
    total_ips: stored.reported_ips ?? 0,
    total_links: stored.reported_links ?? 0,
    total_content: stored.reported_content ?? 0,
    total_archive: stored.reported_archive ?? 0,
    total_vulns: Math.max(stored.total_vulns ?? 0, stored.reported_vulns ?? 0),
    vuln_critical: stored.vuln_critical ?? 0,
    vuln_high: stored.vuln_high ?? 0,
    vuln_medium: stored.vuln_medium ?? 0,
    vuln_low: stored.vuln_low ?? 0,
    vuln_potential: stored.vuln_potential ?? 0,
    last_run: stored.last_run ?? null,
    run_workflow: stored.run_workflow ?? "",
    created_at: stored.created_at,
    updated_at: stored.updated_at,
  };
}

/** Maximum number of names in one response: those of the newest workspaces. */
const NAMES_MAX = 10_000;

/** Returns the names of all workspaces, sorted, and the number of workspaces. */
export async function workspaceNames(deps: ListDeps): Promise<{ data: string[]; count: number }> {
  const { total, items } = await readList(deps, workspaceList, [], { offset: 0, limit: NAMES_MAX });
  const data: string[] = [];
  for await (const page of items) data.push(...page.map(({ name }) => name));
  return { data: data.sort(), count: total };
}
