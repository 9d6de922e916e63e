import type { Schemas } from "../../client/api.ts";

/** An event of the log, as lists return it. */
export type EventRecord = Schemas["EventLogRecord"];

/** The first part of the key of every query that shows events. */
export const EVENTS = "events";

/** Filters of the log by the names that the address and the API have for them. */
export const EVENT_FILTERS = ["topic", "name", "source", "workspace", "workflow_name", "run_id"] as const;
export type EventFilters = Partial<Record<(typeof EVENT_FILTERS)[number], string>>;

/** The address of an event's page. */
export const eventPath = (eventId: string): string => `/events/${encodeURIComponent(eventId)}`;

/** An event with its root cause. */
export type EventDetail = Schemas["Event"];
