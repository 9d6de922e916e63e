import * as z from "zod";
import type { Ports } from "../../platform/ports.ts";
import { listAssets } from "../assets/list.ts";
import type { ListDeps } from "../lists/list.ts";
import { findRuns } from "../runs/run-list.ts";
import { scheduleRows } from "../schedules/list.ts";
import type { CatalogReader } from "../store/catalog.ts";
import { summarizeVulnerabilities } from "../vulnerabilities/list.ts";
import { listWorkspaces } from "../workspaces/list.ts";

const count = z.int();

export const stats = z
  .object({
    workflows: z.object({ total: count, flows: count, modules: count }),
    runs: z.object({
      total: count,
      completed: count,
      running: count,
      failed: count,
      pending: count,
      cancelled: count,
    }),
    workspaces: z.object({ total: count }),
    assets: z.object({ total: count }),
    vulnerabilities: z.object({ total: count, critical: count, high: count, medium: count, low: count }),
    schedules: z.object({ total: count, enabled: count }),
  })
  .meta({ id: "Stats" });

const NO_ITEMS = { offset: 0, limit: 0 };

/** Returns the current totals of all resources. Reference 1.6. */
export async function readStats(
  deps: ListDeps & Pick<Ports, "tables"> & { readonly catalog: CatalogReader },
): Promise<z.infer<typeof stats>> {
  const runs = async (status?: string): Promise<number> => (await findRuns(deps, { status }, NO_ITEMS)).total;
  const { heads } = await deps.catalog.current();
  const flows = heads.filter(({ kind }) => kind === "flow").length;
  const schedules = async (filters: { readonly enabled?: boolean }): Promise<number> =>
    (await scheduleRows(deps, filters, NO_ITEMS)).total;
  const { by_severity, total } = await summarizeVulnerabilities(deps, undefined);
  const { critical = 0, high = 0, medium = 0, low = 0 } = by_severity;
  return {
    workflows: { total: heads.length, flows, modules: heads.length - flows },
    runs: {
      total: await runs(),
      completed: await runs("completed"),
      running: await runs("running"),
      failed: await runs("failed"),
      pending: await runs("pending"),
      cancelled: await runs("cancelled"),
    },
    workspaces: { total: (await listWorkspaces(deps, undefined, NO_ITEMS)).total },
    assets: { total: (await listAssets(deps, {}, NO_ITEMS)).total },
    vulnerabilities: { total, critical, high, medium, low },
    schedules: { total: await schedules({}), enabled: await schedules({ enabled: true }) },
  };
}
