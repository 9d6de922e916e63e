import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { type LogDeps, listEvents } from "../../events/log/list.ts";
import type { Ports } from "../../platform/ports.ts";
import { FIRST_START_KEY, serviceTable } from "../installation/table.ts";
import type { Trigger } from "../schema/types.ts";
import type { CatalogReader, CatalogTrigger } from "../store/catalog.ts";
import type { WorkflowHead } from "../store/table.ts";
import { type StoredSchedule, scheduleKey, schedulesTable } from "../store/trigger-tables.ts";

/** Seed: workflow 2.4. */
export const receiverStatus = z
  .object({
    enabled: z.boolean(),
    running: z.boolean(),
    triggers: z.object({ cron: z.int(), event: z.int(), watch: z.int() }),
    workflows_loaded: z.int(),
    last_event_at: z.string(),
  })
  .meta({ id: "EventReceiverStatus" });

/** Seed: workflow 2.5. */
export const receiverTrigger = z.object({
  name: z.string(),
  type: z.enum(["cron", "event", "watch"]),
  enabled: z.boolean(),
  schedule: z.string().optional(),
  next_run: z.string().optional(),
  topic: z.string().optional(),
  path: z.string().optional(),
  breaker_open_until: z.string().optional(),
});

export const receiverWorkflow = z
  .object({ name: z.string(), kind: z.enum(["flow", "module"]), triggers: z.array(receiverTrigger) })
  .meta({ id: "EventReceiverWorkflow" });

export const receiverWorkflows = z.object({ data: z.array(receiverWorkflow), count: z.int() });

export type ReceiverDeps = LogDeps &
  Pick<Ports, "clock"> & {
    readonly catalog: CatalogReader;
    readonly receiverEnabled: boolean;
  };

type Listed = CatalogTrigger & { readonly spec: Exclude<Trigger, { type: "manual" | "webhook" }> };

const isListed = (trigger: CatalogTrigger): trigger is Listed =>
  trigger.spec.type !== "manual" && trigger.spec.type !== "webhook";

interface Triggered {
  readonly head: WorkflowHead;
  readonly triggers: readonly Listed[];
}

/** Workflows with a trigger, enabled or not. */
async function triggeredWorkflows(deps: ReceiverDeps): Promise<Triggered[]> {
  if (!deps.receiverEnabled) throw new ApiError("not_found", "The event receiver is disabled");
  const { heads, triggers } = await deps.catalog.current();
  return heads
    .map((head) => ({ head, triggers: (triggers.get(head.name) ?? []).filter(isListed) }))
    .filter((workflow) => workflow.triggers.length > 0);
}

/** Throws `not_found` if the receiver is disabled. Seed: workflow 2.4. */
export async function getReceiverStatus(deps: ReceiverDeps): Promise<z.infer<typeof receiverStatus>> {
  const workflows = await triggeredWorkflows(deps);
  const all = workflows.flatMap(({ triggers }) => triggers);
  const count = (type: Listed["spec"]["type"]): number => all.filter(({ spec }) => spec.type === type).length;
  return {
    enabled: true,
    running: true,
    triggers: { cron: count("cron"), event: count("event"), watch: count("watch") },
    workflows_loaded: workflows.length,
    last_event_at: await lastEventAt(deps),
  };
}

/** Time of the newest event; before the first event, the time when the service first started. */
async function lastEventAt(deps: ReceiverDeps): Promise<string> {
  const { items } = await listEvents(deps, {}, { offset: 0, limit: 1 });
  for await (const [event] of items) if (event !== undefined) return event.created_at;
  return firstStart(deps);
}

/** Stored at the first start of the installation. */
export async function firstStart(deps: Pick<Ports, "tables" | "clock">): Promise<string> {
  const at = new Date(deps.clock.now()).toISOString();
  const firstStart = await deps.tables.get(serviceTable, FIRST_START_KEY);
  if (firstStart !== undefined) return firstStart.at;
  const kept = await deps.tables.update(serviceTable, FIRST_START_KEY, { setIfMissing: { at } });
  return kept?.at ?? at;
}

/** Throws `not_found` if the receiver is disabled. Seed: workflow 2.5. */
export async function listReceiverWorkflows(deps: ReceiverDeps): Promise<z.infer<typeof receiverWorkflows>> {
  const workflows = await triggeredWorkflows(deps);
  const data = await Promise.all(
    workflows.map(async ({ head, triggers }) => {
      const keys = triggers.map(({ scheduleId }) => scheduleKey(scheduleId));
      const rows = await deps.tables.batchGet(schedulesTable, keys);
      const byId = new Map(rows.map((row) => [row.schedule_id, row]));
      return {
        name: head.name,
        kind: head.kind,
        triggers: triggers.map((trigger) =>
          toRecord(trigger, byId.get(trigger.scheduleId), deps.clock.now()),
        ),
      };
    }),
  );
  return { data, count: data.length };
}

function toRecord(
  { spec, enabled }: Listed,
  row: StoredSchedule | undefined,
  now: number,
): z.infer<typeof receiverTrigger> {
  const base = { name: spec.name, type: spec.type, enabled, ...openBreaker(row, now) };
  switch (spec.type) {
    case "cron":
      // For a disabled trigger: the next slot at the time it was stored.
      return { ...base, schedule: spec.schedule, next_run: row?.next_run ?? "" };
    case "event":
      return { ...base, topic: spec.topic };
    case "watch":
      return { ...base, path: spec.path };
  }
}

/** Present only while the trigger starts nothing because it fired too often. */
function openBreaker(row: StoredSchedule | undefined, now: number): { breaker_open_until?: string } {
  const until = row?.breaker_open_until ?? null;
  return until === null || Date.parse(until) <= now ? {} : { breaker_open_until: until };
}
