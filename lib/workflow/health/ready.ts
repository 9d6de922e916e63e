import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { FIRST_START_KEY, serviceTable } from "../event-receiver/table.ts";

/** Reads a table and asks every queue. Throws `unavailable` naming what does not answer. */
export async function checkReady(
  deps: Pick<Ports, "tables" | "queues"> & { readonly queueNames: readonly string[] },
): Promise<{ status: "ready"; checks: { tables: "ok"; queues: "ok" } }> {
  await deps.tables.get(serviceTable, FIRST_START_KEY).catch((cause: unknown) => {
    throw new ApiError("unavailable", "The tables do not answer", { cause });
  });
  await Promise.all(deps.queueNames.map((name) => deps.queues.depth(name))).catch((cause: unknown) => {
    throw new ApiError("unavailable", "The queues do not answer", { cause });
  });
  return { status: "ready", checks: { tables: "ok", queues: "ok" } };
}
