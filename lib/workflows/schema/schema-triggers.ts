import * as z from "zod";
import { TOPIC_CHARACTERS } from "../../events/topic-match.ts";
import { checkCron } from "../cron/cron.ts";
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
import type {
  CronTrigger,
  EventTrigger,
  ManualTrigger,
  Trigger,
  WatchTrigger,
  WebhookTrigger,
} from "./types.ts";

const TRIGGER_TYPES = ["cron", "event", "watch", "manual", "webhook"] as const;
const MISFIRES = ["none", "last", "all"] as const;
const WEBHOOK_AUTHS = ["key", "hmac", "hmac-body", "none"] as const;
const DEFAULT_TIMEZONE = "UTC";
const DEFAULT_VARIABLE = "target";
/** Default window of a `dedupe_key`. */
const DEFAULT_WINDOW = "5m";
const EVERY_TOPIC = "*";
const WATCH_PATH_CHARACTERS = 1024;

type Unnamed<Trigger> = Omit<Trigger, "name"> & { readonly name?: string };
/** A trigger; a missing name is generated from its position. */
export type ReadTrigger =
  | Unnamed<CronTrigger>
  | Unnamed<EventTrigger>
  | Unnamed<WatchTrigger>
  | Unnamed<ManualTrigger>
  | Unnamed<WebhookTrigger>;

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

/** The older form, with one variable: `{type: event_data, field, name}` and similar. */
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
      // The default is the file that changed.
      file: given.path ?? "event_data.path",
    }[given.type];
    if (expression === undefined) {
      const field = given.type === "event_data" ? "field" : given.type === "function" ? "function" : "name";
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

/** `type` alone decides between the two forms, so that errors refer to one form. */
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
const writtenTrigger = z.strictObject(
  {
    name: workflowName.exactOptional(),
    type: triggerType,
    on: triggerType,
    enabled: boolean.default(true),
    schedule: filledText.exactOptional(),
    timezone: filledText.default(DEFAULT_TIMEZONE),
    ...eventFields,
    event: z.strictObject(eventFields, expected("a map with topic")).exactOptional(),
    misfire: z.enum(MISFIRES, expected(`one of ${MISFIRES.join(", ")}`)).exactOptional(),
    path: filledText
      .refine((path) => path.length <= WATCH_PATH_CHARACTERS && !path.includes("\0"), {
        error: `must be a path of at most ${WATCH_PATH_CHARACTERS} characters`,
      })
      .exactOptional(),
    debounce: duration.exactOptional(),
    auth: z.enum(WEBHOOK_AUTHS, expected(`one of ${WEBHOOK_AUTHS.join(", ")}`)).exactOptional(),
    tolerance: duration.exactOptional(),
    input: input.exactOptional(),
  },
  expected("a trigger, a map"),
);

/** A trigger that lacks a field required by its type. */
export interface IncompleteTrigger {
  readonly type: "incomplete";
  /** Name of the missing field. */
  readonly field: string;
  readonly message: string;
  /** The trigger that the reference reads instead; undefined if no event can fire it. */
  readonly instead?: ReadTrigger;
}

interface TriggerProblem {
  readonly message: string;
  readonly path: string;
  readonly isMissing: boolean;
}

function readWritten(given: z.output<typeof writtenTrigger>): ReadTrigger | TriggerProblem {
  const problem = (message: string, path: string): TriggerProblem => ({ message, path, isMissing: false });
  const missing = (message: string, path: string): TriggerProblem => ({ message, path, isMissing: true });
  const type = given.type ?? given.on;
  if (type === undefined) return missing(`is required: one of ${TRIGGER_TYPES.join(", ")}`, "type");
  if (given.type !== undefined && given.on !== undefined && given.type !== given.on) {
    return problem(`is ${given.on}, but type is ${given.type}`, "on");
  }
  const base = {
    ...(given.name !== undefined && { name: given.name }),
    enabled: given.enabled,
    input: given.input ?? {},
  };
  switch (type) {
    case "manual":
      return { type, ...base };
    case "webhook":
      return {
        type,
        ...base,
        auth: given.auth ?? "key",
        ...(given.tolerance !== undefined && { tolerance: given.tolerance }),
      };
    case "watch":
      if (given.path === undefined) return missing("is required for a watch trigger", "path");
      return {
        type,
        ...base,
        path: given.path,
        ...(given.debounce !== undefined && { debounce: given.debounce }),
      };
    case "cron": {
      const { schedule, timezone } = given;
      if (schedule === undefined) return missing("is required for a cron trigger", "schedule");
      const checked = checkCron(schedule, timezone);
      if (!checked.ok)
        return problem(checked.message, /time zone/.test(checked.message) ? "timezone" : "schedule");
      return {
        type,
        ...base,
        schedule: schedule.trim(),
        timezone,
        ...(given.misfire !== undefined && { misfire: given.misfire }),
      };
    }
    case "event": {
      const { topic, filters, filter_functions, dedupe_key, dedupe_window } = { ...given, ...given.event };
      if (topic === undefined) {
        return missing("is required for an event trigger (* matches every topic)", "topic");
      }
      return {
        type,
        ...base,
        topic,
        filters: filters ?? [],
        ...(filter_functions !== undefined && { filter_functions }),
        ...(dedupe_key !== undefined && { dedupe_key, dedupe_window: dedupe_window ?? DEFAULT_WINDOW }),
        ...(dedupe_key === undefined && dedupe_window !== undefined && { dedupe_window }),
      };
    }
  }
}

/** A trigger from a request: missing fields are errors. */
const trigger = writtenTrigger.transform((given, context): ReadTrigger => {
  const read = readWritten(given);
  return "isMissing" in read ? refuse(context, read) : read;
});

/** A trigger of a workflow: the reference runs workflows with incomplete triggers, so these produce warnings. */
export const declaredTrigger = writtenTrigger.transform((given, context): ReadTrigger | IncompleteTrigger => {
  const read = readWritten(given);
  if (!("isMissing" in read)) return read;
  if (!read.isMissing) return refuse(context, read);
  const incomplete = { type: "incomplete", field: read.path, message: read.message } as const;
  if (read.path !== "topic") return incomplete;
  const instead = readWritten({ ...given, event: { ...given.event, topic: EVERY_TOPIC } });
  return "isMissing" in instead ? incomplete : { ...incomplete, instead };
});

function refuse(context: z.RefinementCtx, { message, path }: TriggerProblem): never {
  context.addIssue({ code: "custom", message, path: [path] });
  return z.NEVER;
}

/** Validates a trigger from a request by the rules of workflow files. Returns the trigger or its issues, by field. */
export function readTrigger(
  given: Readonly<Record<string, unknown>>,
  name: string,
):
  | { readonly ok: true; readonly trigger: Trigger }
  | {
      readonly ok: false;
      readonly problems: readonly { readonly field: string; readonly message: string }[];
    } {
  const read = trigger.safeParse(given);
  if (read.success) return { ok: true, trigger: { ...read.data, name } };
  const problems = read.error.issues.map((issue) => ({
    field: issue.path.join("."),
    message: messageOf(issue),
  }));
  return { ok: false, problems };
}
