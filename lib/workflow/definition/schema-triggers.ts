import * as z from "zod";
import { TOPIC_CHARACTERS } from "../../events/topic-match.ts";
import { checkCron } from "../schedules/cron.ts";
import { FILTERS_PER_TRIGGER, PARAMS_PER_WORKFLOW } from "./limits.ts";
import {
  boolean,
  duration,
  expected,
  filledText,
  list,
  messageOf,
  textMap,
  variableKey,
  workflowName,
} from "./schema-values.ts";
import type { CronTrigger, EventTrigger, ManualTrigger, WatchTrigger } from "./types.ts";

const TRIGGER_TYPES = ["cron", "event", "watch", "manual"] as const;
const DEFAULT_TIMEZONE = "UTC";
const DEFAULT_VARIABLE = "target";

type Unnamed<Trigger> = Omit<Trigger, "name"> & { readonly name?: string };
/** A trigger whose name may still have to be made up from its position. */
export type ReadTrigger =
  | Unnamed<CronTrigger>
  | Unnamed<EventTrigger>
  | Unnamed<WatchTrigger>
  | Unnamed<ManualTrigger>;

const triggerType = z.enum(TRIGGER_TYPES, expected(`one of ${TRIGGER_TYPES.join(", ")}`)).exactOptional();

const eventFields = {
  topic: filledText
    .refine((topic) => topic.length <= TOPIC_CHARACTERS, {
      error: `must have at most ${TOPIC_CHARACTERS} characters`,
    })
    .exactOptional(),
  filters: list(filledText, FILTERS_PER_TRIGGER).exactOptional(),
  filter_functions: list(filledText, FILTERS_PER_TRIGGER).exactOptional(),
  dedupe_key: filledText.exactOptional(),
  dedupe_window: duration.exactOptional(),
};

const SINGLE_FORMS = ["event_data", "function", "param", "file"] as const;

/** The older form, one variable only: `{type: event_data, field, name}` and its like. */
const singleInput = z
  .object({
    type: z.enum(SINGLE_FORMS),
    name: variableKey.exactOptional(),
    field: filledText.exactOptional(),
    function: filledText.exactOptional(),
    path: filledText.exactOptional(),
  })
  .transform((given, context): Record<string, string> => {
    const expression = {
      event_data: given.field === undefined ? undefined : `event_data.${given.field}`,
      function: given.function,
      param: given.name,
      file: given.path,
    }[given.type];
    if (expression === undefined) {
      const field = { event_data: "field", function: "function", param: "name", file: "path" }[given.type];
      context.addIssue({
        code: "custom",
        message: `is required for an input of type ${given.type}`,
        path: [field],
      });
      return z.NEVER;
    }
    return { [given.name ?? DEFAULT_VARIABLE]: expression };
  });

const inputMap = textMap(variableKey, PARAMS_PER_WORKFLOW);

/** Which of the two forms it is hangs on `type` alone, so that errors speak of one form. */
const input = z.unknown().transform((given, context): Record<string, string> => {
  const schema = isSingleForm(given) ? singleInput : inputMap;
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  for (const issue of read.error.issues) {
    context.addIssue({ code: "custom", message: messageOf(issue), path: [...issue.path] });
  }
  return z.NEVER;
});

function isSingleForm(given: unknown): boolean {
  if (typeof given !== "object" || given === null || !("type" in given)) return false;
  return SINGLE_FORMS.some((form) => form === given.type);
}

/** A trigger in the contract's spelling (flat) or the reference's (`on`, `event: {topic}`). Seed: workflow 2.5. */
export const trigger = z
  .strictObject(
    {
      name: workflowName.exactOptional(),
      type: triggerType,
      on: triggerType,
      enabled: boolean.default(true),
      schedule: filledText.exactOptional(),
      timezone: filledText.default(DEFAULT_TIMEZONE),
      ...eventFields,
      event: z.strictObject(eventFields, expected("a map with topic")).exactOptional(),
      path: filledText.exactOptional(),
      debounce: duration.exactOptional(),
      input: input.exactOptional(),
    },
    expected("a trigger, a map"),
  )
  .transform((given, context): ReadTrigger => {
    const refuse = (message: string, path: readonly string[]) => {
      context.addIssue({ code: "custom", message, path: [...path] });
      return z.NEVER;
    };
    const type = given.type ?? given.on;
    if (type === undefined) return refuse(`is required: one of ${TRIGGER_TYPES.join(", ")}`, ["type"]);
    if (given.type !== undefined && given.on !== undefined && given.type !== given.on) {
      return refuse(`says ${given.on}, but type says ${given.type}`, ["on"]);
    }
    const base = {
      ...(given.name !== undefined && { name: given.name }),
      enabled: given.enabled,
      input: given.input ?? {},
    };
    switch (type) {
      case "manual":
        return { type, ...base };
      case "watch":
        if (given.path === undefined) return refuse("is required for a watch trigger", ["path"]);
        return {
          type,
          ...base,
          path: given.path,
          ...(given.debounce !== undefined && { debounce: given.debounce }),
        };
      case "cron": {
        const { schedule, timezone } = given;
        if (schedule === undefined) return refuse("is required for a cron trigger", ["schedule"]);
        const checked = checkCron(schedule, timezone);
        if (!checked.ok)
          return refuse(checked.message, [/time zone/.test(checked.message) ? "timezone" : "schedule"]);
        return { type, ...base, schedule: schedule.trim(), timezone };
      }
      case "event": {
        const { topic, filters, filter_functions, dedupe_key, dedupe_window } = { ...given, ...given.event };
        if (topic === undefined) {
          return refuse("is required for an event trigger (* stands for every topic)", ["topic"]);
        }
        return {
          type,
          ...base,
          topic,
          filters: filters ?? [],
          ...(filter_functions !== undefined && { filter_functions }),
          ...(dedupe_key !== undefined && { dedupe_key }),
          ...(dedupe_window !== undefined && { dedupe_window }),
        };
      }
    }
  });
