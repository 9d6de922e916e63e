import type { LastFailure } from "../../lib/events/consumer.ts";
import type { EventDraft } from "../../lib/events/publish.ts";
import { NEW_RUN } from "../../lib/workflows/engine/history.ts";
import { runKey, type StoredRun, type StoredStep, stepKey } from "../../lib/workflows/runs/table.ts";
import type { Trigger } from "../../lib/workflows/schema/types.ts";

export const WORKSPACES = 5;
export const STEPS_A_RUN = 20;
export const SEVERITIES = ["critical", "high", "medium", "low"] as const;
export const ARTIFACT_TYPES = ["report", "output"] as const;
export const RUN_STATUSES = ["completed", "failed"] as const;
export const STEP_TYPES = ["bash", "function"] as const;
/** Maximum of schedules; a change of a workflow reads all workflows. */
const CATALOG_MAX = 10_000;

export const catalogSize = (count: number): number => Math.min(CATALOG_MAX, count);

const of = <Value>(values: readonly Value[], number: number): Value =>
  values[number % values.length] as Value;
const workspaceOf = (number: number): string => `ws-${number % WORKSPACES}`;
const timeOf = (number: number): string => new Date(Date.UTC(2026, 0, 1) + number * 1_000).toISOString();

export const workflowText = 'name: workflow\nsteps:\n  - { name: one, type: bash, command: "true" }\n';

export const workspaceDraft = (number: number): EventDraft => ({
  topic: "",
  source: "executor",
  effect: "totals",
  workspace: `area-${number}`,
  data: { counter: "urls", add: 1 },
});

export const vulnerabilityDraft = (number: number): EventDraft => ({
  topic: "vuln.found",
  source: "scan",
  effect: "vulnerability",
  workspace: workspaceOf(number),
  data: {
    vuln_info: `template-${number % 500}`,
    vuln_title: `Finding ${number % 500}`,
    severity: of(SEVERITIES, number),
    confidence: number % 3 === 0 ? "Certain" : "Firm",
    asset_value: `https://host-${number}.example/path`,
  },
});

export const artifactDraft = (number: number): EventDraft => ({
  topic: "",
  source: "executor",
  effect: "artifact",
  workspace: workspaceOf(number),
  data: {
    artifact_path: `output/part-${number}.txt`,
    artifact_type: of(ARTIFACT_TYPES, number),
    size_bytes: number,
  },
});

export const deadLetterOf = (number: number): LastFailure => ({
  queue: "http",
  messageId: `letter-${number}`,
  body: `{"number":${number}}`,
  error: new Error("the host did not answer"),
});

/** A completed run. */
export function runOf(number: number): StoredRun {
  const run_id = `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`;
  const at = timeOf(number);
  const status = of(RUN_STATUSES, number);
  return {
    ...runKey(run_id),
    run_id,
    number,
    workflow_name: `workflow-${number % 10}`,
    workflow_kind: "module",
    workflow_revision: 1,
    modules: [],
    target: `host-${number}.example`,
    params: {},
    status,
    workspace: workspaceOf(number),
    started_at: at,
    completed_at: at,
    error_message: "",
    created_at: at,
    updated_at: at,
    trigger_type: "api",
    trigger_name: "",
    event_id: "",
    run_group_id: run_id,
    total_steps: STEPS_A_RUN,
    completed_steps: STEPS_A_RUN,
    priority: "normal",
    hop: 0,
    state: { ...NEW_RUN, status },
    begun: {},
    version: 1,
  };
}

export function stepOf({ run_id, created_at }: StoredRun, place: number): StoredStep {
  const key = `step-${place}`;
  return {
    ...stepKey(run_id, key),
    id: `${run_id}:${key}`,
    key,
    step_name: key,
    step_type: of(STEP_TYPES, place),
    module: "m",
    status: place % 10 === 9 ? "failed" : "completed",
    dispatch: place + 1,
    attempt: 1,
    command: "true",
    output: "",
    output_truncated: false,
    error_message: "",
    exports: {},
    duration_ms: 1,
    log_file: "",
    started_at: created_at,
    completed_at: created_at,
    created_at,
  };
}

export function scheduleSpec(number: number): Trigger {
  const base = { name: `schedule-${number}`, enabled: number % 2 === 0, input: {} };
  return number % 4 === 0
    ? { ...base, type: "webhook", auth: "key" }
    : { ...base, type: "event", topic: `custom.never.${number}`, filters: [] };
}
