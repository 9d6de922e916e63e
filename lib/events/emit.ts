import * as z from "zod";
import { ApiError } from "../errors.ts";
import { emitTogether } from "./emit-together.ts";
import { jsonObject } from "./json-object.ts";
import { labelText } from "./label-text.ts";
import type { StoredEvent } from "./log/table.ts";
import { type Cause, type EventDeps, type EventDraft, emitEvents } from "./publish.ts";
import { TOPIC_CHARACTERS } from "./topic-match.ts";

const TEXT_MAX_LENGTH = 1024;
const text = labelText.max(TEXT_MAX_LENGTH).nullish();

/** Identifiers are parts of sort keys, which have at most 1,024 bytes. Names of workflows have up to 600. */
const IDENTIFIER_MAX_BYTES = 640;
const identifier = labelText
  .max(IDENTIFIER_MAX_BYTES)
  .refine(
    (value) => Buffer.byteLength(value) <= IDENTIFIER_MAX_BYTES,
    `must be at most ${IDENTIFIER_MAX_BYTES} bytes in UTF-8`,
  )
  .nullish();

/** Body of `POST /events/emit`; unknown fields are ignored. Seed: workflow 4; further spellings: reference 0.2. */
export const emitBody = z
  .object({
    topic: labelText
      .min(1, "must not be empty")
      .max(TOPIC_CHARACTERS)
      .describe("Exact topic, for example custom.deploy"),
    data: jsonObject.nullish().describe("Payload for the workflows that the event triggers"),
    name: text.describe("Defaults to the topic"),
    source: text.describe("Defaults to api"),
    data_type: text,
    workspace: text,
    run_id: identifier,
    run_uuid: identifier,
    workflow_name: identifier,
  })
  .meta({ id: "EmitEvent" });
export type EmitBody = z.infer<typeof emitBody>;

export const emitResponse = z
  .object({
    message: z.string(),
    topic: z.string(),
    event_id: z.string().describe("evt_ and the UUID of the event in the log"),
    triggered_workflows: z.array(z.string()),
    note: z.string().optional(),
  })
  .meta({ id: "EmitAnswer" });

type EmitResponse = z.infer<typeof emitResponse>;
type EmitDeps = EventDeps & { readonly receiverEnabled: boolean };

/** Maximum number of events in one request. */
export const EMIT_EVENTS_MAX = 1_000;
export const emitBodies = z
  .array(emitBody)
  .min(1, "body: must have at least 1 event")
  .max(EMIT_EVENTS_MAX)
  .describe("Events that are recorded together, in this order, or not at all");
export const emitResponses = z.array(emitResponse);

/**
 * Records and publishes an event, and returns the workflows that it triggers. `cause` is the run that requested it.
 * Throws `bad_request`.
 */
export async function emitEvent(deps: EmitDeps, body: EmitBody, cause: Cause = {}): Promise<EmitResponse> {
  const [record] = await emitEvents(deps, [draftOf(body, cause, "topic")]);
  if (record === undefined) throw new Error("recording an event failed");
  return responseOf(deps, record);
}

/** Like `emitEvent` for several events, all or none. The responses are in the order of `bodies`. */
export async function emitAll(
  deps: EmitDeps,
  bodies: readonly EmitBody[],
  cause: Cause = {},
): Promise<EmitResponse[]> {
  const drafts = bodies.map((body, at) => draftOf(body, cause, `${at}.topic`));
  return (await emitTogether(deps, drafts)).map((record) => responseOf(deps, record));
}

/** `field` names the topic in an error. */
function draftOf(body: EmitBody, cause: Cause, field: string): EventDraft {
  if (body.topic.trim() === "") throw new ApiError("bad_request", `${field}: must not be empty`);
  return {
    topic: body.topic,
    source: body.source || "api",
    data: body.data ?? {},
    ...cause,
    ...given("name", body.name),
    ...given("data_type", body.data_type),
    ...given("workspace", body.workspace),
    ...given("run_id", body.run_id || body.run_uuid),
    ...given("workflow_name", body.workflow_name),
  };
}

function responseOf({ receiverEnabled }: EmitDeps, { topic, event_id, matches }: StoredEvent): EmitResponse {
  const triggered = [...new Set(matches.map(({ workflow }) => workflow))];
  return {
    message: "Event emitted successfully",
    topic,
    event_id: `evt_${event_id}`,
    triggered_workflows: triggered,
    ...(triggered.length > 0 ? {} : { note: receiverEnabled ? NO_MATCH : RECEIVER_OFF }),
  };
}

const NO_MATCH = "No workflows matched this topic";
const RECEIVER_OFF = "The event receiver is disabled: the event was recorded but triggers nothing";

function given<Name extends string>(
  name: Name,
  value: string | null | undefined,
): { [key in Name]?: string } {
  return value === undefined || value === null || value === ""
    ? {}
    : ({ [name]: value } as { [key in Name]: string });
}
