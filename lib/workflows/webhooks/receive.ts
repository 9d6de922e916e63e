import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { Write } from "../../platform/tables.ts";
import { CONFLICT, retryOnConflict } from "../../retry-on-conflict.ts";
import { findNamed } from "../store/store.ts";
import {
  onceKey,
  type StoredSchedule,
  scheduleKey,
  schedulesTable,
  triggerStateTable,
  webhookKey,
} from "../store/trigger-tables.ts";
import { claimOnce, hashOf } from "../triggers/dedupe.ts";
import type { RateBreaker } from "../triggers/rate-breaker.ts";
import { type StartTriggeredRunDeps, startTriggeredRun } from "../triggers/start-triggered-run.ts";
import { matchOf } from "../triggers/triggered-event.ts";
import { type Proof, proveCaller, type WebhookCall } from "./caller.ts";

export type WebhookDeps = StartTriggeredRunDeps & {
  readonly breaker: RateBreaker;
  readonly receiverEnabled: boolean;
};

/** Response to the caller of a webhook. */
export const receiveResponse = z
  .object({
    message: z.string(),
    event_id: z.string().optional(),
    run_id: z.string().optional(),
    workflow: z.string(),
    triggered_workflows: z.array(z.string()),
  })
  .meta({ id: "ReceivedWebhook" });

/** Longest id, characters; longer ones are not looked up. */
const ID_MAX_LENGTH = 64;
const ONCE_KEY_MAX_LENGTH = 256;
const IDEMPOTENT_MS = 24 * 3_600_000;

/**
 * Handles a request to a webhook: publishes a `webhook.received` event with the request's content, and starts its run.
 * The same signed request, or the same `Idempotency-Key` within a day, starts no further run. Throws `not_found` for
 * an address that is unknown or disabled, `unauthorized`, `too_many_requests`.
 */
export async function receiveWebhook(
  deps: WebhookDeps,
  webhookId: string,
  call: WebhookCall,
  data: Readonly<Record<string, unknown>>,
): Promise<z.infer<typeof receiveResponse>> {
  const schedule = await scheduleAt(deps, webhookId);
  const { spec } = schedule;
  if (!deps.receiverEnabled || !schedule.enabled || spec.type !== "webhook") throw unknown();
  const proof = await proveCaller(deps, webhookId, spec, call);
  const head = await findNamed(deps, schedule.workflow);
  if (head === undefined) throw new ApiError("not_found", `Workflow not found: ${schedule.workflow}`);
  const { revision } = head;
  if (!(await deps.breaker.take(schedule.schedule_id)))
    throw new ApiError("too_many_requests", `The webhook ${deps.breaker.reason}, try again later`);
  const match = matchOf(schedule, revision, "webhook");
  const receive = async () => {
    const claims = await claimsOf(deps, schedule, proof, call);
    if (claims === undefined)
      return {
        message: "Webhook was received before",
        workflow: schedule.workflow,
        triggered_workflows: [],
      };
    const draft = {
      topic: "webhook.received",
      name: `${schedule.trigger}-received`,
      source: "api",
      data_type: "webhook",
      workflow_name: schedule.workflow,
      data,
    };
    const fired = await startTriggeredRun(deps, schedule, match, draft, claims);
    if (fired === undefined) return CONFLICT;
    return {
      message: "Webhook received",
      event_id: `evt_${fired.eventId}`,
      run_id: fired.runId,
      workflow: schedule.workflow,
      triggered_workflows: [...fired.workflows],
    };
  };
  return retryOnConflict(receive, {
    exceeded: () => new ApiError("conflict", "The webhook could not be recorded, try again"),
  });
}

async function scheduleAt(deps: WebhookDeps, webhookId: string): Promise<StoredSchedule> {
  if (webhookId.length > ID_MAX_LENGTH) throw unknown();
  const address = await deps.tables.get(triggerStateTable, webhookKey(webhookId));
  const row =
    address?.schedule_id === undefined
      ? undefined
      : await deps.tables.get(schedulesTable, scheduleKey(address.schedule_id));
  if (row === undefined) throw unknown();
  return row;
}

const unknown = (): ApiError => new ApiError("not_found", "Webhook not found");

/** The writes that claim the idempotency key and signature; undefined if they were already claimed. */
async function claimsOf(
  deps: WebhookDeps,
  { schedule_id }: StoredSchedule,
  proof: Proof | undefined,
  { headers }: WebhookCall,
): Promise<Write[] | undefined> {
  const writes: Write[] = [];
  const once: [string, number][] = [];
  if (proof !== undefined) once.push([`signature ${proof.signature}`, proof.onceForMs]);
  const delivery = headers["idempotency-key"];
  if (delivery !== undefined && delivery !== "")
    once.push([`delivery ${delivery.slice(0, ONCE_KEY_MAX_LENGTH)}`, IDEMPOTENT_MS]);
  for (const [text, onceForMs] of once) {
    const claim = await claimOnce(deps, onceKey(schedule_id, hashOf(text)), onceForMs);
    if (claim.taken) return undefined;
    if (claim.write !== undefined) writes.push(claim.write);
  }
  return writes;
}

/** The payload of a webhook's event: a JSON object unchanged, otherwise `body` with the raw text. */
export function payloadOf(body: string): Readonly<Record<string, unknown>> {
  if (body.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Readonly<Record<string, unknown>>;
    return { body: value };
  } catch {
    return { body };
  }
}
