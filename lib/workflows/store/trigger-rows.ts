import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { nextFire } from "../cron/cron.ts";
import type { Trigger } from "../schema/types.ts";
import { headKey, workflowsTable } from "./table.ts";
import {
  declaredId,
  overrideKey,
  type StoredSchedule,
  scheduleKey,
  schedulesTable,
  triggerStateTable,
  webhookKey,
} from "./trigger-tables.ts";

type RowDeps = Pick<Ports, "tables" | "clock">;

/**
 * The writes that reconcile the stored schedules of a workflow with its triggers. A schedule whose time did not change
 * keeps its slot, so it misses no fire and a concurrent fire is not undone. A schedule that was enabled or disabled by
 * request stays so until the file changes it; a deleted one is restored.
 */
export async function scheduleWrites(
  deps: RowDeps,
  workflow: string,
  triggers: readonly Trigger[],
): Promise<Write[]> {
  const stored = await schedulesOf(deps, workflow, triggers);
  const before = new Map(stored.map((schedule) => [schedule.trigger, schedule]));
  const writes = await overrideRemovals(
    deps,
    workflow,
    triggers.filter(({ name, type }) => before.get(name)?.type !== type),
  );
  for (const trigger of triggers) {
    const known = before.get(trigger.name);
    before.delete(trigger.name);
    if (known === undefined || known.type !== trigger.type) {
      writes.push(...insertWrites(declaredRow(deps, workflow, trigger)));
      if (known !== undefined) writes.push(...webhookRemoval(known));
    } else if (!isDeepStrictEqual(known.spec, trigger)) writes.push(...changes(deps, known, trigger));
  }
  for (const left of before.values()) writes.push(...deleteWrites(left));
  return writes;
}

/** Deletes the overrides of new triggers and of those that were deleted by request: their file decides. */
async function overrideRemovals(
  deps: RowDeps,
  workflow: string,
  triggers: readonly Trigger[],
): Promise<Write[]> {
  if (triggers.length === 0) return [];
  const keys = triggers.map(({ name }) => overrideKey(declaredId(workflow, name)));
  const found = await deps.tables.batchGet(triggerStateTable, keys);
  return found.map(({ pk, sk }): Write => ({ op: "delete", table: triggerStateTable, key: { pk, sk } }));
}

/** The writes that delete all schedules that a workflow declares. */
export async function scheduleRemovals(deps: Pick<Ports, "tables">, workflow: string): Promise<Write[]> {
  return (await schedulesOf(deps, workflow)).flatMap(deleteWrites);
}

/** The stored schedules of the triggers that a workflow declares, and of `further` triggers. */
export async function schedulesOf(
  deps: Pick<Ports, "tables">,
  workflow: string,
  further: readonly Trigger[] = [],
): Promise<StoredSchedule[]> {
  const head = await deps.tables.get(workflowsTable, headKey(workflow));
  const names = new Set([...(head?.triggers ?? []), ...further].map(({ name }) => name));
  if (names.size === 0) return [];
  const keys = [...names].map((name) => scheduleKey(declaredId(workflow, name)));
  return deps.tables.batchGet(schedulesTable, keys);
}

/** The row of a new trigger. */
export function newScheduleRow(
  deps: Pick<Ports, "clock">,
  scheduleId: string,
  row: Pick<StoredSchedule, "workflow" | "origin" | "spec" | "enabled"> &
    Partial<Pick<StoredSchedule, "target" | "workspace" | "params">>,
): StoredSchedule {
  const now = new Date(deps.clock.now()).toISOString();
  const { spec } = row;
  return {
    target: "",
    workspace: "",
    params: {},
    ...row,
    ...scheduleKey(scheduleId),
    schedule_id: scheduleId,
    trigger: spec.name,
    type: spec.type,
    ...nextRunFields(deps, spec, row.enabled),
    last_run: null,
    run_count: 0,
    error: "",
    breaker_open_until: null,
    ...(spec.type === "webhook" ? { webhook_id: newWebhookId() } : {}),
    created_at: now,
    updated_at: now,
    listed_at: `${now}#${scheduleId}`,
  };
}

/** 192 random bits, so it cannot be guessed. */
const newWebhookId = (): string => `wh_${randomBytes(24).toString("base64url")}`;

function declaredRow(deps: RowDeps, workflow: string, trigger: Trigger): StoredSchedule {
  return newScheduleRow(deps, declaredId(workflow, trigger.name), {
    workflow,
    origin: "workflow",
    spec: trigger,
    enabled: trigger.enabled,
  });
}

/** The fields that the scheduler reads; empty for triggers that are not cron triggers. */
export function nextRunFields(
  deps: Pick<Ports, "clock">,
  spec: Trigger,
  enabled: boolean,
): Pick<StoredSchedule, "expression" | "timezone" | "next_run" | "due"> {
  if (spec.type !== "cron") return { expression: "", timezone: "" };
  const next = nextFire(spec.schedule, spec.timezone, deps.clock.now());
  return {
    expression: spec.schedule,
    timezone: spec.timezone,
    next_run: new Date(next).toISOString(),
    ...(enabled ? { due: "1" } : {}),
  };
}

/** The writes that insert a schedule, and its webhook address if it has one. */
export function insertWrites(row: StoredSchedule): Write[] {
  const put: Write = { op: "put", table: schedulesTable, item: row };
  if (row.webhook_id === undefined) return [put];
  const item = { ...webhookKey(row.webhook_id), schedule_id: row.schedule_id };
  return [put, { op: "put", table: triggerStateTable, item }];
}

/** The writes of a changed trigger; `enabled` as set by request is kept unless the file changed it. */
function changes(deps: RowDeps, known: StoredSchedule, trigger: Trigger): Write[] {
  const turned = known.spec.enabled !== trigger.enabled;
  const enabled = turned ? trigger.enabled : known.enabled;
  const updated_at = new Date(deps.clock.now()).toISOString();
  const writes: Write[] = turned
    ? [{ op: "delete", table: triggerStateTable, key: overrideKey(known.schedule_id) }]
    : [];
  const isTimed = trigger.type === "cron";
  const sameTime =
    isTimed && known.expression === trigger.schedule && known.timezone === trigger.timezone && !turned;
  if (sameTime || !isTimed) {
    const change = { set: { spec: { ...trigger }, enabled, error: "", updated_at } };
    writes.push({ op: "update", table: schedulesTable, key: scheduleKey(known.schedule_id), change });
    return writes;
  }
  const { due: _due, ...rest } = known;
  const timed = nextRunFields(deps, trigger, enabled);
  const item: StoredSchedule = { ...rest, ...timed, spec: trigger, enabled, error: "", updated_at };
  writes.push({ op: "put", table: schedulesTable, item });
  return writes;
}

/** The writes that delete a schedule with its webhook address and override. */
export function deleteWrites(row: StoredSchedule): Write[] {
  return [
    { op: "delete", table: schedulesTable, key: scheduleKey(row.schedule_id) },
    ...webhookRemoval(row),
    { op: "delete", table: triggerStateTable, key: overrideKey(row.schedule_id) },
  ];
}

function webhookRemoval({ webhook_id }: StoredSchedule): Write[] {
  return webhook_id === undefined
    ? []
    : [{ op: "delete", table: triggerStateTable, key: webhookKey(webhook_id) }];
}
