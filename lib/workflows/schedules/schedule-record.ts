import * as z from "zod";
import type { WorkflowHead } from "../store/table.ts";
import type { StoredSchedule } from "../store/trigger-tables.ts";

/** A schedule in responses. Reference 6; the last six fields are Weft's own. */
export const scheduleRecord = z
  .object({
    id: z.string(),
    name: z.string(),
    workflow_name: z.string(),
    workflow_kind: z.enum(["flow", "module", ""]).describe("Empty if the workflow does not exist"),
    target: z.string(),
    workspace: z.string(),
    params: z.record(z.string(), z.string()),
    trigger_name: z.string(),
    trigger_type: z.enum(["cron", "event", "watch", "manual", "webhook"]),
    schedule: z.string(),
    event_topic: z.string(),
    watch_path: z.string(),
    is_enabled: z.boolean(),
    last_run: z.string().nullable(),
    next_run: z.string().nullable().describe("Null if it is not a cron schedule, and while it is disabled"),
    run_count: z.int(),
    created_at: z.string(),
    updated_at: z.string(),
    timezone: z.string(),
    misfire: z.enum(["none", "last", "all", ""]).describe("Empty except for cron"),
    input: z.record(z.string(), z.string()),
    origin: z.enum(["workflow", "api"]).describe("Whether the workflow declares it, or a request created it"),
    error: z.string(),
    breaker_open_until: z
      .string()
      .nullable()
      .describe("Time until which it starts nothing because it fired too often"),
  })
  .meta({ id: "Schedule" });
export type ScheduleRecord = z.infer<typeof scheduleRecord>;

export function toScheduleRecord(
  row: StoredSchedule,
  head: Pick<WorkflowHead, "kind"> | undefined,
  now: number,
): ScheduleRecord {
  const { spec } = row;
  const isOpen = row.breaker_open_until !== null && Date.parse(row.breaker_open_until) > now;
  return {
    id: row.schedule_id,
    name: row.trigger,
    workflow_name: row.workflow,
    workflow_kind: head?.kind ?? "",
    target: row.target,
    workspace: row.workspace,
    params: { ...row.params },
    trigger_name: row.trigger,
    trigger_type: row.type,
    schedule: row.expression,
    event_topic: spec.type === "event" ? spec.topic : "",
    watch_path: spec.type === "watch" ? spec.path : "",
    is_enabled: row.enabled,
    last_run: row.last_run,
    next_run: row.enabled ? (row.next_run ?? null) : null,
    run_count: row.run_count,
    created_at: row.created_at,
    updated_at: row.updated_at,
    timezone: row.timezone,
    misfire: spec.type === "cron" ? (spec.misfire ?? "last") : "",
    input: { ...spec.input },
    origin: row.origin,
    error: row.error,
    breaker_open_until: isOpen ? row.breaker_open_until : null,
  };
}
