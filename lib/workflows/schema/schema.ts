import * as z from "zod";
import {
  MODULES_PER_FLOW,
  PARAMS_PER_WORKFLOW,
  REPORTS_PER_WORKFLOW,
  STEPS_PER_WORKFLOW,
  TAGS_PER_WORKFLOW,
  TRIGGERS_PER_WORKFLOW,
} from "./limits.ts";
import { dependencies } from "./schema-control.ts";
import { actions, runnerConfig, step } from "./schema-steps.ts";
import { declaredTrigger } from "./schema-triggers.ts";
import {
  boolean,
  duration,
  expected,
  filledText,
  isTemplate,
  list,
  stepName,
  text,
  textMap,
  variableKey,
  variableName,
  workflowName,
} from "./schema-values.ts";
import { HEURISTICS } from "./types.ts";

const PARAM_TYPES = {
  string: "string",
  bool: "bool",
  boolean: "bool",
  int: "int",
  integer: "int",
} as const;

const paramType = z
  .enum(["string", "bool", "boolean", "int", "integer"], expected("string, bool or int"))
  .transform((type) => PARAM_TYPES[type]);

const param = z
  .strictObject(
    {
      name: variableName,
      type: paramType.prefault("string"),
      default: text.exactOptional(),
      required: boolean.default(false),
      generator: filledText.exactOptional(),
    },
    expected("a param: {name, type, default, required}"),
  )
  .refine((value) => value.type !== "int" || isWholeNumber(value.default), {
    error: "must be a whole number or a template",
    path: ["default"],
  });

function isWholeNumber(value: string | undefined): boolean {
  return value === undefined || value === "" || isTemplate(value) || /^[+-]?\d+$/.test(value.trim());
}

const flowModule = z
  .strictObject(
    {
      name: stepName,
      path: filledText.exactOptional(),
      steps: list(step, STEPS_PER_WORKFLOW).min(1, { error: "must not be empty" }).exactOptional(),
      params: textMap(variableKey, PARAMS_PER_WORKFLOW).default({}),
      depends_on: list(stepName, MODULES_PER_FLOW).default([]),
      condition: filledText.exactOptional(),
      on_success: actions,
      on_error: actions,
    },
    expected("a module: {name, path} or {name, steps}"),
  )
  .refine((value) => (value.path === undefined) !== (value.steps === undefined), {
    error: "requires either path (the name of a stored workflow) or steps",
  })
  .transform(({ path, ...rest }) => ({ ...rest, ...(path !== undefined && { path: workflowOf(path) }) }))
  .refine((value) => value.path === undefined || workflowName.safeParse(value.path).success, {
    error: "must end in the name of a workflow",
    path: ["path"],
  });

/** `common/enum-subdomain.yaml` refers to the workflow `enum-subdomain`. */
function workflowOf(path: string): string {
  return (path.trim().split("/").at(-1) ?? "").replace(/\.ya?ml$/i, "");
}

/** Steps before or after those of a module; the default type is bash. */
const hookSteps = z
  .array(z.unknown(), expected("a list"))
  .transform((steps) =>
    steps.map((one) => (isObject(one) && !("type" in one) ? { type: "bash", ...one } : one)),
  )
  .pipe(list(step, STEPS_PER_WORKFLOW))
  .default([]);

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

const hooks = z.strictObject(
  { pre_scan_steps: hookSteps, post_scan_steps: hookSteps },
  expected("a map of pre_scan_steps and post_scan_steps"),
);

const report = z.strictObject(
  {
    name: filledText.exactOptional(),
    path: filledText.exactOptional(),
    type: text.exactOptional(),
    description: text.exactOptional(),
    optional: boolean.default(false),
  },
  expected("a report: {name, path, type, description, optional}"),
);

const preferences = z.strictObject(
  {
    empty_target: boolean.exactOptional(),
    heuristics_check: z.enum(HEURISTICS, expected(`one of ${HEURISTICS.join(", ")}`)).exactOptional(),
    disable_logging: boolean.exactOptional(),
    silent: boolean.exactOptional(),
    ci_output_format: boolean.exactOptional(),
    repeat: boolean.exactOptional(),
    repeat_wait_time: duration.exactOptional(),
    disable_notifications: boolean.exactOptional(),
  },
  expected("a map of preferences"),
);

const tag = filledText.transform((value) => value.trim());
const tags = z
  .union(
    [text.transform((value) => value.split(",").filter((part) => part.trim() !== "")), z.array(z.unknown())],
    {
      error: "must be a list, or text with commas",
    },
  )
  .pipe(list(tag, TAGS_PER_WORKFLOW));

/** A scalar is the default. */
const paramChange = z.union([
  text.transform((value) => ({ default: value })),
  z.strictObject({
    type: paramType.exactOptional(),
    default: text.exactOptional(),
    required: boolean.exactOptional(),
    generator: filledText.exactOptional(),
  }),
]);

const MODES = ["append", "prepend", "replace", "merge"] as const;

/** How inherited lists of steps or modules change, besides additions. */
const change = {
  mode: z.enum(MODES, expected(`one of ${MODES.join(", ")}`)).default("append"),
  remove: list(stepName, STEPS_PER_WORKFLOW).default([]),
};
const someSteps = list(step, STEPS_PER_WORKFLOW).default([]);
const someModules = list(flowModule, MODULES_PER_FLOW).default([]);
const stepsChange = z
  .strictObject(
    { ...change, steps: someSteps, replace: someSteps },
    expected("a map of mode, steps, remove, replace"),
  )
  .transform(({ steps, ...rest }) => ({ ...rest, items: steps }));
const modulesChange = z
  .strictObject(
    { ...change, modules: someModules, replace: someModules },
    expected("a map of mode, modules, remove, replace"),
  )
  .transform(({ modules, ...rest }) => ({ ...rest, items: modules }));

const override = z.strictObject(
  {
    params: z.record(variableKey, paramChange, expected("a map")).exactOptional(),
    steps: stepsChange.exactOptional(),
    modules: modulesChange.exactOptional(),
    triggers: list(declaredTrigger, TRIGGERS_PER_WORKFLOW).exactOptional(),
    dependencies: dependencies.exactOptional(),
    preferences: preferences.exactOptional(),
    runner: z.enum(["host", "docker", "ssh"], expected("host, docker or ssh")).exactOptional(),
    runner_config: runnerConfig.exactOptional(),
  },
  expected("a map of params, steps, modules, triggers, dependencies, preferences, runner, runner_config"),
);

export type ReadOverride = z.output<typeof override>;

/** A workflow as written; unknown keys are rejected here and tolerated by the caller. */
export const workflow = z.strictObject(
  {
    name: workflowName.exactOptional(),
    kind: z.enum(["module", "flow"], expected("module or flow")).exactOptional(),
    description: text.default(""),
    tags: tags.default([]),
    hidden: boolean.default(false),
    params: list(param, PARAMS_PER_WORKFLOW).default([]),
    triggers: list(declaredTrigger, TRIGGERS_PER_WORKFLOW).default([]),
    steps: list(step, STEPS_PER_WORKFLOW).exactOptional(),
    modules: list(flowModule, MODULES_PER_FLOW).exactOptional(),
    hooks: hooks.exactOptional(),
    dependencies: dependencies.exactOptional(),
    runner: z.enum(["host", "docker", "ssh"], expected("host, docker or ssh")).exactOptional(),
    runner_config: runnerConfig.exactOptional(),
    preferences: preferences.default({}),
    undefined: z.enum(["empty", "fail"], expected("empty or fail")).exactOptional(),
    reports: list(report, REPORTS_PER_WORKFLOW).default([]),
    extends: filledText.transform(workflowOf).exactOptional(),
    override: override.exactOptional(),
  },
  { error: "a workflow is a map with name and steps" },
);

export type ReadWorkflow = z.output<typeof workflow>;
