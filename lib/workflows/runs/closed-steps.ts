import type { Write } from "../../platform/tables.ts";
import type { Input } from "../engine/decide.ts";
import type { Program } from "../engine/program.ts";
import { isOwn, stepRow } from "./steps-under-way.ts";
import { type StoredRun, type StoredStep, stepsTable } from "./table.ts";

/** Rows closed in the transaction that ends their run, at most. */
const CLOSED_WITH_RUN_MAX = 60;

/** Steps that were under way when the run was ended from outside are closed with it. */
export function closedSteps(run: StoredRun, next: StoredRun, program: Program, input: Input): Write[] {
  if (input.type !== "cancel" && input.type !== "fail") return [];
  const status = input.type === "cancel" ? "cancelled" : "failed";
  const error_message = input.type === "cancel" ? "cancelled" : input.error;
  const completed_at = next.updated_at;
  return Object.entries(run.state.frames)
    .filter(([key]) => isOwn(key))
    .slice(0, CLOSED_WITH_RUN_MAX)
    .map(([key, frame]) => ({
      op: "put",
      table: stepsTable,
      item: closedRow(stepRow(run, program, key, frame), { status, error_message, completed_at }),
    }));
}

function closedRow(
  row: StoredStep,
  end: Pick<StoredStep, "status" | "error_message"> & { readonly completed_at: string },
): StoredStep {
  const duration_ms = Math.max(0, Date.parse(end.completed_at) - Date.parse(row.started_at));
  return { ...row, ...end, duration_ms };
}
