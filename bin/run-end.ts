import { CommandFailure, EXIT_CANCELLED, type Terminal } from "./command.ts";
import { printable } from "./connection.ts";
import { type RunRecord, tookOf } from "./run-progress.ts";

/** Throws CommandFailure where not all of them were completed. */
export function endAs(
  runs: readonly RunRecord[],
  { quiet, alone }: { readonly quiet: boolean; readonly alone: boolean },
  terminal: Terminal,
): void {
  const failed = runs.filter(({ status }) => status === "failed");
  const cancelled = runs.filter(({ status }) => status === "cancelled");
  const [first] = failed;
  if (first !== undefined) {
    const hint = alone ? undefined : `What its steps wrote: weft logs ${first.run_id}`;
    if (runs.length > 1) throw new CommandFailure(`${failed.length} of ${runs.length} runs failed.`, hint);
    const why = printable(first.error_message) || "no reason given";
    throw new CommandFailure(`The run failed after ${tookOf(first)}: ${why}`, hint);
  }
  if (cancelled.length > 0) {
    const what = runs.length === 1 ? "The run was" : `${cancelled.length} of ${runs.length} runs were`;
    throw new CommandFailure(`${what} cancelled.`, undefined, EXIT_CANCELLED);
  }
  const [only] = runs;
  if (!quiet && runs.length === 1 && only !== undefined)
    terminal.out(
      `completed in ${tookOf(only)}  ${only.completed_steps} of ${only.total_steps} steps  workspace ${printable(only.workspace)}\n`,
    );
}
