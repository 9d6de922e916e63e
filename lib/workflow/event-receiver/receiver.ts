import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { type LogDeps, listEvents } from "../../events/log/list.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Trigger } from "../definition/types.ts";
import type { WorkflowHead } from "../definitions/table.ts";
import { schedulesOf } from "../schedules/triggers.ts";
import type { CatalogReader } from "../triggers/matcher.ts";
import { FIRST_START_KEY, serviceTable } from "./table.ts";

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

type Listed = Exclude<Trigger, { type: "manual" }>;

const listedTriggers = (head: WorkflowHead): Listed[] =>
  head.triggers.filter((trigger) => trigger.type !== "manual");

/** Workflows with a trigger, whether it is enabled or not. */
async function triggeredWorkflows(deps: ReceiverDeps): Promise<WorkflowHead[]> {
  if (!deps.receiverEnabled) throw new ApiError("not_found", "The event receiver is disabled");
  const { heads } = await deps.catalog.current();
  return heads.filter((head) => listedTriggers(head).length > 0);
}

/** Throws `not_found` while the receiver is off. Seed: workflow 2.4. */
export async function getReceiverStatus(deps: ReceiverDeps): Promise<z.infer<typeof receiverStatus>> {
  const workflows = await triggeredWorkflows(deps);
  const triggers = workflows.flatMap(listedTriggers);
  const count = (type: Listed["type"]): number => triggers.filter((trigger) => trigger.type === type).length;
  return {
    enabled: true,
    running: true,
    triggers: { cron: count("cron"), event: count("event"), watch: count("watch") },
    workflows_loaded: workflows.length,
    last_event_at: await lastEventAt(deps),
  };
}

/** When the newest event was recorded; before any, when the service first started. */
async function lastEventAt(deps: ReceiverDeps): Promise<string> {
  const { items } = await listEvents(deps, {}, { offset: 0, limit: 1 });
  for await (const [event] of items) if (event !== undefined) return event.created_at;
  return firstStart(deps);
}

/** Kept at the first start of the installation. */
export async function firstStart(deps: Pick<Ports, "tables" | "clock">): Promise<string> {
  const at = new Date(deps.clock.now()).toISOString();
  const mark = await deps.tables.get(serviceTable, FIRST_START_KEY);
  if (mark !== undefined) return mark.at;
  const kept = await deps.tables.update(serviceTable, FIRST_START_KEY, { setIfMissing: { at } });
  return kept?.at ?? at;
}

/** Throws `not_found` while the receiver is off. Seed: workflow 2.5. */
export async function listReceiverWorkflows(deps: ReceiverDeps): Promise<z.infer<typeof receiverWorkflows>> {
  const workflows = await triggeredWorkflows(deps);
  const data = await Promise.all(
    workflows.map(async (head) => {
      const triggers = listedTriggers(head);
      const schedules = triggers.some(({ type }) => type === "cron")
        ? await schedulesOf(deps, head.name)
        : [];
      const nextRuns = new Map(schedules.map((schedule) => [schedule.trigger, schedule.next_run]));
      return {
        name: head.name,
        kind: head.kind,
        triggers: triggers.map((trigger) => toRecord(trigger, nextRuns.get(trigger.name))),
      };
    }),
  );
  return { data, count: data.length };
}

function toRecord(trigger: Listed, stored: string | undefined): z.infer<typeof receiverTrigger> {
  const base = { name: trigger.name, type: trigger.type, enabled: trigger.enabled };
  switch (trigger.type) {
    case "cron":
      // Of a trigger that is switched off: the slot that was the next one when it was stored.
      return { ...base, schedule: trigger.schedule, next_run: stored ?? "" };
    case "event":
      return { ...base, topic: trigger.topic };
    case "watch":
      return { ...base, path: trigger.path };
  }
}
