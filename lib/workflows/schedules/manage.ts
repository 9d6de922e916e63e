import type * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { CONFLICT, retryOnConflict } from "../../retry-on-conflict.ts";
import type { Trigger } from "../schema/types.ts";
import type { CatalogReader } from "../store/catalog.ts";
import { findByName, workflowNotFound } from "../store/find-workflow.ts";
import { ensureRules } from "../store/schedule-rules.ts";
import { catalogWrites } from "../store/table.ts";
import { deleteWrites, insertWrites, newScheduleRow, nextRunFields } from "../store/trigger-rows.ts";
import {
  createdKey,
  overrideKey,
  type StoredSchedule,
  scheduleKey,
  schedulesTable,
  triggerStateTable,
} from "../store/trigger-tables.ts";
import { unwatchableReason, type WatchingDeps } from "../watches/unwatchable-paths.ts";
import { type createBody, triggerOf, type updateBody } from "./schedule-body.ts";
import { type ScheduleRecord, toScheduleRecord } from "./schedule-record.ts";

export type ScheduleDeps = Pick<Ports, "tables" | "clock" | "ids" | "scheduler" | "log"> &
  WatchingDeps & {
    readonly catalog: CatalogReader;
  };

/** Schedules created by request per installation. */
const MADE_MAX = 10_000;

const ID_MAX_LENGTH = 512;

/** Creates a schedule. Throws `bad_request` naming the invalid field. Reference 1.5. */
export async function createSchedule(
  deps: ScheduleDeps,
  body: z.infer<typeof createBody>,
): Promise<ScheduleRecord> {
  const { name, workflow_name, workflow_kind, trigger_type, enabled, target, workspace, params, ...fields } =
    body;
  const { heads, byName, made } = await deps.catalog.current();
  const head = byName.get(workflow_name) ?? findByName(heads, workflow_name);
  if (head === undefined)
    throw new ApiError("bad_request", `workflow_name: ${workflowNotFound(heads, workflow_name).message}`);
  if (workflow_kind !== undefined && workflow_kind !== head.kind)
    throw new ApiError("bad_request", `workflow_kind: ${workflow_name} is a ${head.kind}`);
  if (made.length >= MADE_MAX)
    throw new ApiError(
      "bad_request",
      `name: the limit of ${MADE_MAX} schedules is reached; delete some first`,
    );
  const spec = triggerOf(fields, trigger_type, name);
  await checkWatched(deps, spec);
  const row = newScheduleRow(deps, `sch_${deps.ids.ordered()}`, {
    workflow: head.name,
    origin: "api",
    spec,
    enabled,
    target,
    workspace,
    params,
  });
  const outcome = await deps.tables.write([...insertWrites(row), madeWrite(row), ...catalogWrites(deps)]);
  if (!outcome.ok) throw new ApiError("conflict", "The schedule could not be stored, try again");
  if (enabled) await ensureRules(deps, [spec]);
  return toScheduleRecord(row, head, deps.clock.now());
}

async function checkWatched(deps: WatchingDeps, spec: Trigger): Promise<void> {
  const why = await unwatchableReason(deps, spec);
  if (why !== undefined) throw new ApiError("bad_request", `watch_path: ${why}`);
}

const pathOf = (spec: Trigger): string | undefined => (spec.type === "watch" ? spec.path : undefined);

/** Throws `not_found`. */
export async function findSchedule(deps: Pick<Ports, "tables">, id: string): Promise<StoredSchedule> {
  const row = id.length <= ID_MAX_LENGTH ? await deps.tables.get(schedulesTable, scheduleKey(id)) : undefined;
  if (row === undefined) throw new ApiError("not_found", "Schedule not found");
  return row;
}

/** Throws `not_found`. */
export async function getSchedule(deps: ScheduleDeps, id: string): Promise<ScheduleRecord> {
  return shown(deps, await findSchedule(deps, id));
}

async function shown(deps: ScheduleDeps, row: StoredSchedule): Promise<ScheduleRecord> {
  const { byName } = await deps.catalog.current();
  return toScheduleRecord(row, byName.get(row.workflow), deps.clock.now());
}

/**
 * Changes a schedule immediately; a new time counts from now. Of a schedule that a workflow's file declares, only
 * `enabled` can change. Throws `not_found`, and `bad_request` naming the field.
 */
export async function updateSchedule(
  deps: ScheduleDeps,
  id: string,
  body: z.infer<typeof updateBody>,
): Promise<ScheduleRecord> {
  const { name, target, workspace, params, enabled, ...fields } = body;
  return change(deps, id, async (row) => {
    if (row.origin === "workflow") {
      const { enabled: _, ...others } = body;
      const [field] = Object.entries(others).find(([, value]) => value !== undefined && value !== "") ?? [];
      if (field !== undefined)
        throw new ApiError(
          "bad_request",
          `${field}: is declared by the workflow ${row.workflow}; change it there`,
        );
    }
    const spec =
      row.origin === "workflow" ? row.spec : triggerOf(fields, row.type, name || row.trigger, row.spec);
    if (row.origin === "api" && pathOf(spec) !== pathOf(row.spec)) await checkWatched(deps, spec);
    return {
      spec,
      trigger: spec.name,
      target: target || row.target,
      workspace: workspace || row.workspace,
      params: params ?? row.params,
      enabled: enabled ?? row.enabled,
    };
  });
}

/** Enables or disables a trigger immediately. Throws `not_found`. */
export async function switchSchedule(deps: ScheduleDeps, id: string, enabled: boolean): Promise<void> {
  await change(deps, id, () => ({ enabled }));
}

type Changed = Partial<
  Pick<StoredSchedule, "spec" | "trigger" | "target" | "workspace" | "params" | "enabled">
>;

async function change(
  deps: ScheduleDeps,
  id: string,
  changed: (row: StoredSchedule) => Changed | Promise<Changed>,
): Promise<ScheduleRecord> {
  const tryToChange = async (): Promise<ScheduleRecord | typeof CONFLICT> => {
    const before = await findSchedule(deps, id);
    const after = changedRow(deps, before, await changed(before));
    const outcome = await deps.tables.write([...rowWrites(before, after), ...catalogWrites(deps)]);
    if (!outcome.ok) return CONFLICT;
    if (after.enabled) await ensureRules(deps, [{ ...after.spec, enabled: true }]);
    return shown(deps, after);
  };
  return retryOnConflict(tryToChange, {
    exceeded: () => new ApiError("conflict", "The schedule is being changed concurrently, try again"),
  });
}

/** A schedule that is enabled or has a new time computes its next slot from now. */
function changedRow(deps: ScheduleDeps, before: StoredSchedule, changed: Changed): StoredSchedule {
  const { due: _due, next_run: _next, ...rest } = { ...before, ...changed };
  const isAnew =
    (rest.enabled && !before.enabled) ||
    (rest.spec.type === "cron" &&
      (rest.spec.schedule !== before.expression || rest.spec.timezone !== before.timezone));
  const kept = before.next_run === undefined ? {} : { next_run: before.next_run };
  const timed = isAnew
    ? nextRunFields(deps, rest.spec, rest.enabled)
    : { ...kept, ...(rest.enabled && before.next_run !== undefined ? { due: "1" } : {}) };
  return { ...rest, ...timed, error: "", updated_at: new Date(deps.clock.now()).toISOString() };
}

/** Fails if the schedule fired or changed since it was read. */
function rowWrites(before: StoredSchedule, after: StoredSchedule): Write[] {
  return [
    {
      op: "put",
      table: schedulesTable,
      item: after,
      when: [
        ["run_count", "=", before.run_count],
        ["updated_at", "=", before.updated_at],
        ["enabled", "=", before.enabled],
      ],
    },
    after.origin === "api" ? madeWrite(after) : overrideWrite(after),
  ];
}

const madeWrite = ({ schedule_id, workflow, spec, enabled }: StoredSchedule): Write => ({
  op: "put",
  table: triggerStateTable,
  item: { ...createdKey(schedule_id), workflow, spec, enabled },
});

/** A trigger that matches its file again needs no override. */
function overrideWrite({ schedule_id, spec, enabled }: StoredSchedule): Write {
  const key = overrideKey(schedule_id);
  return spec.enabled === enabled
    ? { op: "delete", table: triggerStateTable, key }
    : { op: "put", table: triggerStateTable, item: { ...key, enabled } };
}

/**
 * Deletes a schedule immediately. One that a workflow's file declares is restored by the workflow's next revision. Throws
 * `not_found`.
 */
export async function deleteSchedule(deps: ScheduleDeps, id: string): Promise<void> {
  const row = await findSchedule(deps, id);
  const kept: Write[] =
    row.origin === "api"
      ? [{ op: "delete", table: triggerStateTable, key: createdKey(id) }]
      : [
          {
            op: "put",
            table: triggerStateTable,
            item: { ...overrideKey(id), enabled: false, deleted: true },
          },
        ];
  // The override replaces the one that is deleted with the row.
  const gone = deleteWrites(row).filter((write) => !("key" in write && write.key.pk === overrideKey(id).pk));
  const outcome = await deps.tables.write([...gone, ...kept, ...catalogWrites(deps)]);
  if (!outcome.ok) throw new ApiError("conflict", "The schedule was changed concurrently, try again");
}
