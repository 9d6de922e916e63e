import * as z from "zod";
import { ApiError } from "../errors.ts";
import { jsonObject } from "./json-object.ts";
import { labelText } from "./label-text.ts";
import { type Cause, type EventDeps, emitEvents } from "./publish.ts";
import { TOPIC_CHARACTERS } from "./topic-match.ts";

const TEXT_MAX_LENGTH = 1024;
const text = labelText.max(TEXT_MAX_LENGTH).nullish();

/** Body of `POST /events/emit`; unknown fields are ignored. Seed: workflow 4; further spellings: reference 0.2. */
export const emitBody = z.object({
  topic: labelText
    .min(1, "must not be empty")
    .max(TOPIC_CHARACTERS)
    .describe("Exact topic, for example custom.deploy"),
  data: jsonObject.nullish().describe("Payload for the workflows that the event triggers"),
  name: text.describe("Defaults to the topic"),
  source: text.describe("Defaults to api"),
  data_type: text,
  workspace: text,
  run_id: text,
  run_uuid: text,
  workflow_name: text,
});
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

/**
 * Records and publishes an event, and returns the workflows that it triggers. `cause` is the run that requested it.
 * Throws `bad_request`.
 */
export async function emitEvent(
  deps: EventDeps & { readonly receiverEnabled: boolean },
  body: EmitBody,
  cause: Cause = {},
): Promise<z.infer<typeof emitResponse>> {
  const topic = body.topic.trim();
  if (topic === "") throw new ApiError("bad_request", "topic: must not be empty");
  const [record] = await emitEvents(deps, [
    {
      topic: body.topic,
      source: body.source || "api",
      data: body.data ?? {},
      ...cause,
      ...given("name", body.name),
      ...given("data_type", body.data_type),
      ...given("workspace", body.workspace),
      ...given("run_id", body.run_id || body.run_uuid),
      ...given("workflow_name", body.workflow_name),
    },
  ]);
  if (record === undefined) throw new Error("recording an event failed");
  const triggered = [...new Set(record.matches.map(({ workflow }) => workflow))];
  return {
    message: "Event emitted successfully",
    topic: record.topic,
    event_id: `evt_${record.event_id}`,
    triggered_workflows: triggered,
    ...(triggered.length > 0 ? {} : { note: deps.receiverEnabled ? NO_MATCH : RECEIVER_OFF }),
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
