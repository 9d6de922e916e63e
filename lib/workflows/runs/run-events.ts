import type { EventDraft } from "../../events/publish.ts";
import type { TopicData } from "../../events/topics.ts";
import type { HistoryEntry } from "../engine/history.ts";
import type { Step } from "../schema/types.ts";
import type { StepReport } from "../steps/messages.ts";
import { rootCauseOf, type StoredRun } from "./table.ts";

/** Returns the `run.*` events of a change of a run. */
export function runEvents(
  run: StoredRun,
  next: StoredRun,
  entries: readonly HistoryEntry[],
  now: number,
): EventDraft[] {
  const base = { scan_id: run.run_id, target: run.target };
  const duration_ms = run.started_at === null ? 0 : Math.max(0, now - Date.parse(run.started_at));
  return entries.flatMap((entry): EventDraft[] => {
    if (entry.type === "run.started") {
      const data: TopicData<"run.started"> = {
        ...base,
        params: { ...run.params },
        trigger: run.trigger_type,
        run_group_id: run.run_group_id,
      };
      return [{ ...runDraft(run, "run.started", "started"), source: sourceOf(run), data, effect: "run" }];
    }
    if (entry.type === "run.cancelled") {
      const data: TopicData<"run.cancelled"> = { ...base, duration_ms };
      return [{ ...runDraft(run, "run.cancelled", "cancelled"), data }];
    }
    if (entry.type !== "run.finished") return [];
    if (entry.status === "completed") {
      const data: TopicData<"run.completed"> = {
        ...base,
        duration_ms,
        steps_completed: next.completed_steps,
      };
      return [{ ...runDraft(run, "run.completed", "completed"), data }];
    }
    const data: TopicData<"run.failed"> = { ...base, duration_ms, error: entry.error ?? "" };
    return [{ ...runDraft(run, "run.failed", "failed"), data }];
  });
}

/** Returns the event of a finished step; a skipped step has none. */
export function stepEvent(
  run: StoredRun,
  step: Step,
  finished: Extract<HistoryEntry, { type: "step.finished" }>,
  report: StepReport,
): EventDraft[] {
  if (finished.status === "skipped") return [];
  const base = { step_name: step.name, step_type: step.type, duration_ms: report.duration_ms };
  const draft = {
    source: "executor",
    data_type: "step",
    workspace: run.workspace,
    run_id: run.run_id,
    workflow_name: run.workflow_name,
    hop: run.hop + 1,
    root_cause: rootCauseOf(run),
  };
  if (finished.status === "completed") {
    const data: TopicData<"step.completed"> = { ...base, output_lines: report.output_lines };
    return [{ ...draft, topic: "step.completed", name: `${step.name}-completed`, data }];
  }
  const data: TopicData<"step.failed"> = { ...base, error: finished.error ?? "" };
  return [{ ...draft, topic: "step.failed", name: `${step.name}-failed`, data }];
}

/** Returns the event of a run that could not start. */
export function failedAtStart(run: StoredRun, error: string): EventDraft {
  const data: TopicData<"run.failed"> = {
    scan_id: run.run_id,
    target: run.target,
    duration_ms: 0,
    error,
  };
  return { ...runDraft(run, "run.failed", "failed"), data };
}

function runDraft(run: StoredRun, topic: string, word: string) {
  return {
    topic,
    name: `${run.workflow_name}-${word}`,
    source: "executor",
    data_type: "scan",
    workspace: run.workspace,
    run_id: run.run_id,
    workflow_name: run.workflow_name,
    hop: run.hop + 1,
    root_cause: rootCauseOf(run),
  };
}

function sourceOf(run: StoredRun): string {
  if (run.trigger_type === "cron") return "scheduler";
  return run.trigger_type === "api" ? "api" : "executor";
}
