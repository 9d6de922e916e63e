import { createHash } from "node:crypto";
import { parseDuration } from "../../durations.ts";
import type { MatchClaim } from "../../events/log/table.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Key, Write } from "../../platform/tables.ts";
import { parseTemplate } from "../expressions/parse.ts";
import { renderText } from "../expressions/render-text.ts";
import type { EventTrigger } from "../schema/types.ts";
import { onceKey, type TriggerState, triggerStateTable } from "../store/trigger-tables.ts";
import type { EventValues } from "./trigger-input.ts";

/** Expired items deleted in one sweep. */
const FORGOTTEN_AT_ONCE = 100;
const FORGOTTEN_MAX = 5_000;

export type Claim = { readonly taken: true } | { readonly taken: false; readonly write?: Write };

/** What an event claims for a trigger; undefined if the trigger fires for each event. Keys are per trigger. Reference 4. */
export function claimOf(
  scheduleId: string,
  trigger: Pick<EventTrigger, "dedupe_key" | "dedupe_window">,
  values: EventValues,
): MatchClaim | undefined {
  const { text, windowMs } = eventDedupeKey(trigger, values);
  return text === "" ? undefined : { ...onceKey(scheduleId, hashOf(text)), windowMs };
}

/**
 * Claims an event's key within the trigger's window, which starts with the first event with this key. Returns whether
 * the key was claimed before, or else the write that claims it, for the event's own transaction or that of its run: its
 * condition fails if another event was faster. `earlier` are the other writes of that transaction.
 */
export async function claimKey(
  deps: Pick<Ports, "tables" | "clock">,
  claim: MatchClaim | undefined,
  earlier: readonly Write[] = [],
): Promise<Claim> {
  if (claim === undefined) return { taken: false };
  const { pk, sk, windowMs } = claim;
  return claimOnce(deps, { pk, sk }, windowMs, earlier);
}

/** The key of an event for a trigger, empty if it has none, and the length of the trigger's window in milliseconds. */
export function eventDedupeKey(
  { dedupe_key, dedupe_window }: Pick<EventTrigger, "dedupe_key" | "dedupe_window">,
  values: EventValues,
): { readonly text: string; readonly windowMs: number } {
  const windowMs = parseDuration(dedupe_window ?? "") ?? 0;
  if (dedupe_key === undefined || windowMs === 0) return { text: "", windowMs };
  return { text: renderText(parseTemplate(dedupe_key), values), windowMs };
}

/** Claims any key for a time, in the same way. */
export async function claimOnce(
  deps: Pick<Ports, "tables" | "clock">,
  key: Key,
  windowMs: number,
  earlier: readonly Write[] = [],
): Promise<Claim> {
  if (earlier.some((write) => write.op === "put" && write.item.pk === key.pk && write.item.sk === key.sk))
    return { taken: true };
  const now = deps.clock.now();
  const before = await deps.tables.get(triggerStateTable, key);
  if (before?.until !== undefined && Date.parse(before.until) > now) return { taken: true };
  const item: TriggerState = { ...key, expires: "1", until: new Date(now + windowMs).toISOString() };
  return {
    taken: false,
    write: {
      op: "put",
      table: triggerStateTable,
      item,
      when: before?.until === undefined ? [["pk", "missing"]] : [["until", "=", before.until]],
    },
  };
}

export const hashOf = (text: string): string => createHash("sha256").update(text).digest("base64url");

/** Deletes expired keys. */
export async function deleteExpiredClaims(deps: Pick<Ports, "tables" | "clock">): Promise<number> {
  const to = new Date(deps.clock.now()).toISOString();
  let forgotten = 0;
  while (forgotten < FORGOTTEN_MAX) {
    const { items } = await deps.tables.query(triggerStateTable, {
      index: "expires",
      pk: "1",
      sk: { to },
      limit: FORGOTTEN_AT_ONCE,
    });
    if (items.length === 0) break;
    const gone = await Promise.all(
      items.map(({ pk, sk, until = "" }) =>
        deps.tables.write([
          { op: "delete", table: triggerStateTable, key: { pk, sk }, when: [["until", "=", until]] },
        ]),
      ),
    );
    forgotten += items.length;
    // The index may lag behind and return deleted items again; the next sweep continues.
    if (!gone.some(({ ok }) => ok)) break;
  }
  return forgotten;
}
