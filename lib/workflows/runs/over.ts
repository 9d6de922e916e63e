import type { Ports } from "../../platform/ports.ts";
import { isTerminal } from "../engine/history.ts";
import { runKey, runsTable } from "./table.ts";

/** Whether a run has ended, or is not there any more. */
export async function isRunOver({ tables }: Pick<Ports, "tables">, runId: string): Promise<boolean> {
  const run = await tables.get(runsTable, runKey(runId));
  return run === undefined || isTerminal(run.status);
}
