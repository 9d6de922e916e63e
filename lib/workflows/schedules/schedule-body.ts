import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { labelText } from "../../events/label-text.ts";
import { readTrigger } from "../schema/schema-triggers.ts";
import type { Trigger } from "../schema/types.ts";

const NAME_MAX_LENGTH = 128;
const TEXT_MAX_LENGTH = 4096;
const PARAMS_MAX = 256;
/** Maximum length of all parameters of a schedule together, characters. */
const PARAMS_MAX_LENGTH = 64 * 1024;

const text = z.string().max(TEXT_MAX_LENGTH);
const label = labelText.max(TEXT_MAX_LENGTH);
const name = labelText.trim().min(1, "must not be empty").max(NAME_MAX_LENGTH);
const paramValue = z
  .union([z.string(), z.number(), z.boolean()], "must be text, a number, true or false")
  .transform((value) => String(value));
const params = z
  .record(z.string().min(1).max(NAME_MAX_LENGTH), paramValue)
  .refine((map) => Object.keys(map).length <= PARAMS_MAX, `must have at most ${PARAMS_MAX} entries`)
  .refine(
    (map) => JSON.stringify(map).length <= PARAMS_MAX_LENGTH,
    `must have at most ${PARAMS_MAX_LENGTH} characters in all`,
  );

/** Fields of a trigger; the rules are those of workflow files. */
const triggerFields = {
  schedule: text.optional().describe("Cron expression of five fields; required for cron"),
  timezone: text.optional().describe("IANA time zone; default UTC"),
  misfire: text.optional().describe("none, last or all: which missed times to make up for"),
  event_topic: label.optional().describe("Exact or glob; required for event"),
  filters: z.array(text).max(64).optional(),
  filter_functions: z.array(text).max(64).optional(),
  dedupe_key: text.optional(),
  dedupe_window: text.optional(),
  watch_path: text.optional().describe("Folder, file or glob; required for watch"),
  debounce: text.optional(),
  input: z.record(z.string(), z.unknown()).optional(),
};

/** Body of `POST /schedules`. Reference 1.5. */
export const createBody = z.object({
  name,
  workflow_name: name,
  workflow_kind: z.enum(["module", "flow"]).optional(),
  trigger_type: z.enum(["cron", "event", "watch", "manual"]).default("cron"),
  enabled: z.boolean().default(false),
  target: text.default(""),
  workspace: label.default(""),
  params: params.default({}),
  ...triggerFields,
});

/** Body of `PUT /schedules/{id}`: omitted and empty fields stay unchanged. */
export const updateBody = z.object({
  name: labelText.trim().max(NAME_MAX_LENGTH).optional(),
  target: text.optional(),
  workspace: label.optional(),
  params: params.optional(),
  enabled: z.boolean().optional(),
  ...triggerFields,
});

type TriggerFields = Pick<z.infer<typeof createBody>, keyof typeof triggerFields>;

/** Names of body fields that differ from those in workflow files. */
const FIELD_IN_BODY: Readonly<Record<string, string>> = { topic: "event_topic", path: "watch_path" };

/** Returns the trigger that a body describes, merged over an existing one. Throws `bad_request` naming the field. */
export function triggerOf(
  given: TriggerFields,
  type: Trigger["type"],
  name: string,
  before: Partial<Trigger> = {},
): Trigger {
  const { event_topic, watch_path, ...same } = given;
  const { name: _name, enabled: _enabled, ...kept } = before;
  const fields = {
    ...kept,
    ...filled(same),
    ...filled({ topic: event_topic, path: watch_path }),
    type,
  };
  const read = readTrigger(fields, name);
  if (read.ok) return read.trigger;
  const problems = read.problems.map(({ field, message }) => `${FIELD_IN_BODY[field] ?? field}: ${message}`);
  throw new ApiError("bad_request", problems.slice(0, 10).join("; "));
}

/** Omits empty fields. */
function filled(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== ""),
  );
}
