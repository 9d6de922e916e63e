import * as z from "zod";
import { parseDuration } from "../../durations.ts";
import { NAME_CHARACTERS, TIMEOUT_MS } from "./limits.ts";
import { shorten } from "./problems.ts";

/** The types of values in definitions. Every message continues the path: `steps[0].name: is required`. */

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const LOOP_VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const STEP_NAME = /^[A-Za-z0-9][A-Za-z0-9 ._-]*$/;
const WORKFLOW_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const TEMPLATE = /\{\{|\[\[/;

type Issue = { readonly input?: unknown };

/** The message for a value of the wrong type, or for a missing value. */
export function expected(what: string): { error: (issue: Issue) => string } {
  return { error: (issue) => (issue.input === undefined ? "is required" : `must be ${what}`) };
}

/** Text; numbers and booleans are converted as written. */
export const text = z.union([z.string(), z.number(), z.boolean()], expected("text")).transform(String);

/** Text that is not blank. */
export const filledText = text.refine((value) => value.trim() !== "", { error: "must not be empty" });

export const boolean = z.union(
  [z.boolean(), z.stringbool({ truthy: ["true"], falsy: ["false"] })],
  expected("true or false"),
);

function named(pattern: RegExp, characters: string) {
  return text
    .refine((value) => value.length <= NAME_CHARACTERS, {
      error: `must have at most ${NAME_CHARACTERS} characters`,
    })
    .refine((value) => pattern.test(value), { error: characters });
}

export const stepName = named(
  STEP_NAME,
  "must start with a letter or digit, and contain only letters, digits, spaces, '.', '_' and '-'",
);
export const workflowName = named(
  WORKFLOW_NAME,
  "must start with a letter or digit, and contain only letters, digits, '.', '_' and '-'",
);
export const variableName = named(
  VARIABLE,
  "must start with a letter or '_', and contain only letters, digits, '_' and '-'",
);
export const loopVariable = named(
  LOOP_VARIABLE,
  "must be an identifier: a letter or '_', then letters, digits and '_'",
);

/** A list of 1 to `max` items. */
export function filledList<Item extends z.ZodType>(item: Item, max: number) {
  return list(item, max).min(1, { error: "must not be empty" });
}

export function list<Item extends z.ZodType>(item: Item, max: number) {
  return z.array(item, expected("a list")).max(max, { error: `must have at most ${max} items` });
}

export function object(what: string) {
  return z.record(z.string(), z.unknown(), expected(what));
}

/** A map of names to text. */
export function textMap(name: z.ZodType<string, string>, max: number) {
  return z
    .record(name, text, expected("a map"))
    .refine((map) => Object.keys(map).length <= max, { error: `must have at most ${max} entries` });
}

/** Names as keys: the rules of `variableName`, on a plain string. */
export const variableKey = z
  .string()
  .max(NAME_CHARACTERS, { error: `a name must have at most ${NAME_CHARACTERS} characters` })
  .regex(VARIABLE, {
    error: "a name must start with a letter or '_', and contain only letters, digits, '_' and '-'",
  });

/** Whether a text contains a placeholder. */
export function isTemplate(value: string): boolean {
  return TEMPLATE.test(value);
}

/** Seconds, a duration or a template; whole seconds in text become a number. */
export const timeout = z
  .union([z.number(), z.string()], expected("seconds or a duration such as 30s, 5m, 2h, 1d"))
  .transform((value, context) => {
    if (typeof value === "string" && isTemplate(value)) return value;
    const milliseconds = parseDuration(value);
    if (milliseconds === undefined) {
      context.addIssue(
        `"${shorten(String(value))}" is not a duration: use seconds, or 500ms, 30s, 5m, 2h, 1d`,
      );
    } else if (milliseconds > TIMEOUT_MS) {
      context.addIssue(`must be at most ${TIMEOUT_MS} ms, a little under 25 days`);
    }
    return typeof value === "string" && /^\d+$/.test(value.trim()) ? Number(value) : value;
  });

/** A duration without a template. */
export const duration = filledText.refine((value) => parseDuration(value) !== undefined, {
  error: "is not a duration: use 500ms, 30s, 5m, 2h or 1d",
});

/** The message of an issue; for an invalid map key, that of the nested issue. */
export function messageOf(issue: z.core.$ZodIssue): string {
  return issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message;
}
