import * as z from "zod";
import { parseDuration } from "../../durations.ts";
import {
  CASES_PER_DECISION,
  COMMANDS_PER_STEP,
  DEPENDENCIES_PER_KIND,
  RETRY_ATTEMPTS,
  RETRY_BACKOFF,
  RETRY_DELAY_MS,
} from "./limits.ts";
import { expected, filledList, filledText, list, text, variableName } from "./schema-values.ts";
import { TARGET_TYPES } from "./types.ts";

/** Fields that control whether and how often steps run. Reference 2.3, 2.4. */

const decisionCase = {
  goto: filledText.transform((value) => value.trim()).exactOptional(),
  command: filledText.exactOptional(),
  commands: filledList(filledText, COMMANDS_PER_STEP).exactOptional(),
  function: filledText.exactOptional(),
  functions: filledList(filledText, COMMANDS_PER_STEP).exactOptional(),
};

interface WrittenCase {
  readonly goto?: string;
  readonly command?: string;
  readonly commands?: readonly string[];
  readonly function?: string;
  readonly functions?: readonly string[];
}

function toCase({ goto, command, commands, function: single, functions }: WrittenCase) {
  return {
    ...(goto !== undefined && { goto }),
    commands: commands ?? (command === undefined ? [] : [command]),
    functions: functions ?? (single === undefined ? [] : [single]),
  };
}

const caseOf = z.strictObject(decisionCase, expected("a case: {goto: step}")).transform(toCase);
const conditionOf = z
  .strictObject({ if: filledText, ...decisionCase }, expected("a condition: {if, goto}"))
  .transform(({ if: condition, ...rest }) => ({ if: condition, ...toCase(rest) }));

export const decision = z
  .strictObject(
    {
      switch: text.exactOptional(),
      cases: z
        .record(z.string(), caseOf, expected("a map from a value to a case"))
        .refine((cases) => Object.keys(cases).length <= CASES_PER_DECISION, {
          error: `must have at most ${CASES_PER_DECISION} entries`,
        })
        .default({}),
      default: caseOf.exactOptional(),
      conditions: list(conditionOf, CASES_PER_DECISION).default([]),
    },
    expected("a decision: {switch, cases} or {conditions}"),
  )
  .transform(({ switch: written, ...rest }) => {
    // Without a switch the reference compares the empty text with the cases.
    const compared = written ?? (rest.conditions.length === 0 ? "" : undefined);
    return { ...rest, ...(compared !== undefined && { switch: compared }) };
  });

const retryDelay = z
  .union([z.number(), z.string()], expected("seconds or a duration such as 500ms, 30s, 5m"))
  .transform((value, context) => {
    const milliseconds = parseDuration(value);
    if (milliseconds !== undefined && milliseconds <= RETRY_DELAY_MS) return milliseconds;
    context.addIssue(
      milliseconds === undefined ? "is not a duration: use seconds, or 500ms, 30s, 5m" : "must be at most 1d",
    );
    return z.NEVER;
  });

export const retry = z.strictObject(
  {
    max_attempts: z
      .int(expected("a whole number"))
      .min(1, { error: "must be at least 1" })
      .max(RETRY_ATTEMPTS, { error: `must be at most ${RETRY_ATTEMPTS}` }),
    delay: retryDelay.default(1_000),
    backoff: z
      .number(expected("a number"))
      .min(1, { error: "must be at least 1" })
      .max(RETRY_BACKOFF, { error: `must be at most ${RETRY_BACKOFF}` })
      .default(2),
  },
  expected("a retry: {max_attempts, delay, backoff}"),
);

const targetType = z.enum(TARGET_TYPES, expected(`one of ${TARGET_TYPES.join(", ")}`));
const texts = list(filledText, DEPENDENCIES_PER_KIND).default([]);

/** One type, or several separated by commas. */
const variableTypes = filledText
  .transform((value) => value.split(",").map((part) => part.trim()))
  .pipe(z.array(targetType));

export const dependencies = z.strictObject(
  {
    commands: texts,
    files: texts,
    target_types: list(targetType, DEPENDENCIES_PER_KIND).default([]),
    variables: list(
      z
        .strictObject(
          { name: variableName, type: variableTypes.default([]), required: z.unknown() },
          expected("a variable: {name, type}"),
        )
        .partial({ required: true })
        .transform(({ name, type }) => ({ name, types: type })),
      DEPENDENCIES_PER_KIND,
    ).default([]),
    functions_conditions: texts,
  },
  expected("a map of commands, files, target_types, variables, functions_conditions"),
);
