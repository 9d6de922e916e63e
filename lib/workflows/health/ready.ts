import { ApiError, toApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import type { StorageHealth } from "../../platform/storage-health.ts";
import { FIRST_START_KEY, serviceTable } from "../installation/table.ts";

/**
 * Checks the storage, a table and every queue. Throws `unavailable` naming the components that do not respond, and
 * until the workflows are loaded and their triggers are active.
 */
export async function checkReady(
  deps: Pick<Ports, "tables" | "queues"> & {
    readonly queueNames: readonly string[];
    readonly isStarted?: () => boolean;
    readonly storage?: StorageHealth;
  },
): Promise<{ status: "ready"; checks: { tables: "ok"; queues: "ok" } }> {
  const fault = await deps.storage?.check();
  if (fault !== undefined) throw new ApiError("unavailable", toApiError(fault).message, { cause: fault });
  if (deps.isStarted?.() === false)
    throw new ApiError("unavailable", "The workflows are being loaded, try again in a moment");
  await deps.tables.get(serviceTable, FIRST_START_KEY).catch((cause: unknown) => {
    throw new ApiError("unavailable", "The tables do not answer", { cause });
  });
  await Promise.all(deps.queueNames.map((name) => deps.queues.depth(name))).catch((cause: unknown) => {
    throw new ApiError("unavailable", "The queues do not answer", { cause });
  });
  return { status: "ready", checks: { tables: "ok", queues: "ok" } };
}
