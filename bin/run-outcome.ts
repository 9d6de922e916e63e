import { CommandFailure, EXIT_CANCELLED } from "./errors.ts";
import { elapsed, type RunRecord } from "./run-progress.ts";
import { printable, terminal } from "./terminal.ts";

/** Prints the outcome of a completed run. Throws CommandFailure if a run failed or was cancelled. */
export function reportOutcome(
  runs: readonly RunRecord[],
  { isQuiet, isTemporary }: { readonly isQuiet: boolean; readonly isTemporary: boolean },
): void {
  const failed = runs.filter(({ status }) => status === "failed");
  const cancelled = runs.filter(({ status }) => status === "cancelled");
  const [first] = failed;
  if (first !== undefined) {
    const hint = isTemporary ? undefined : `To see the output of its steps: weft logs ${first.run_id}`;
    if (runs.length > 1) throw new CommandFailure(`${failed.length} of ${runs.length} runs failed.`, hint);
    const reason = printable(first.error_message) || "no reason given";
    throw new CommandFailure(`The run failed after ${elapsed(first)}: ${reason}`, hint);
  }
  if (cancelled.length > 0) {
    const subject = runs.length === 1 ? "The run was" : `${cancelled.length} of ${runs.length} runs were`;
    throw new CommandFailure(`${subject} cancelled.`, undefined, EXIT_CANCELLED);
  }
  const [only] = runs;
  if (!isQuiet && runs.length === 1 && only !== undefined)
    terminal.out(
      `completed in ${elapsed(only)}  ${only.completed_steps} of ${only.total_steps} steps  workspace ${printable(only.workspace)}\n`,
    );
}
