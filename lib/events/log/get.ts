import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { eventData } from "../publish.ts";
import { eventRecord, toRecord } from "./list.ts";
import { eventKey, eventLogTable, type StoredEvent } from "./table.ts";

const EVENT_ID_MAX_LENGTH = 128;

/** One event in responses: the fields of the list without the number, and where the event came from. */
export const eventDetail = eventRecord
  .omit({ id: true })
  .extend({
    hop: z.int().describe("Number of Weft's own events that led to it"),
    root_cause: z
      .string()
      .describe("The external event or run that led to it, if known; otherwise its own event_id"),
  })
  .meta({ id: "Event" });

/** The event with this id, which may begin with `evt_`. Throws `not_found`. */
export async function findEvent(deps: Pick<Ports, "tables">, eventId: string): Promise<StoredEvent> {
  const id = eventId.replace(/^evt_/, "");
  const event =
    id === "" || id.length > EVENT_ID_MAX_LENGTH
      ? undefined
      : await deps.tables.get(eventLogTable, eventKey(id));
  if (event === undefined) throw new ApiError("not_found", "Event not found");
  return event;
}

/** One event with its data. Throws `not_found`. */
export async function getEvent(
  deps: Pick<Ports, "tables" | "blobs">,
  eventId: string,
): Promise<z.infer<typeof eventDetail>> {
  const event = await findEvent(deps, eventId);
  const { id: _number, ...record } = toRecord(event, await eventData(deps, event), 0);
  return { ...record, hop: event.hop, root_cause: event.root_cause ?? event.event_id };
}
