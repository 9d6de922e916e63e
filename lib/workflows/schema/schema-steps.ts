import * as z from "zod";
import {
  ACTIONS_PER_STEP,
  COMMANDS_PER_STEP,
  EXPORTS_PER_STEP,
  FOREACH_PARALLEL_ITEMS,
  HTTP_METHOD,
  PARALLEL_STEPS,
  STEPS_PER_WORKFLOW,
  VOLUMES_PER_STEP,
} from "./limits.ts";
import { shorten } from "./problems.ts";
import { decision, retry } from "./schema-control.ts";
import { embeddingInput, messages, toolChoice, tools } from "./schema-llm.ts";
import {
  boolean,
  expected,
  filledList,
  filledText,
  isTemplate,
  list,
  loopVariable,
  object,
  stepName,
  text,
  textMap,
  timeout,
  variableKey,
} from "./schema-values.ts";
import { type Action, STEP_TYPES, type Step, type StepByType, type StepType } from "./types.ts";

const ACTIONS = ["log", "continue", "abort", "export", "run", "notify"] as const;

/** Lists and maps are converted to JSON text. */
const actionValue = z.union([text, z.array(z.unknown()).transform(toJson), object("text").transform(toJson)]);

function toJson(value: unknown): string {
  return JSON.stringify(value);
}

/** Reference 2.4. `handlers.ts` checks for missing fields: the reference ignores incomplete actions. */
const action = z
  .strictObject(
    {
      action: z.enum(ACTIONS, expected(`one of ${ACTIONS.join(", ")}`)).exactOptional(),
      condition: filledText.exactOptional(),
      message: text.exactOptional(),
      notify: text.exactOptional(),
      name: filledText.exactOptional(),
      key: filledText.exactOptional(),
      value: actionValue.exactOptional(),
      type: z.enum(["bash", "function"], expected("bash or function")).exactOptional(),
      command: filledText.exactOptional(),
      function: filledText.exactOptional(),
      functions: filledList(filledText, COMMANDS_PER_STEP).exactOptional(),
      script: filledText.exactOptional(),
      step: filledText.exactOptional(),
    },
    expected("an action: {action: log, message: …}"),
  )
  .transform((written, context): Action => {
    const { action: named, notify, key, script, function: single, ...rest } = written;
    // An action with a type and no name is a run action.
    const action = named ?? (rest.type === undefined ? undefined : "run");
    if (action === undefined) {
      context.addIssue({ code: "custom", message: "is required", path: ["action"] });
      return z.NEVER;
    }
    const { message = notify, name = key } = rest;
    const scripts = rest.type === "function" ? (single ?? script) : single;
    const functions = rest.functions ?? (scripts === undefined ? undefined : [scripts]);
    const command = rest.command ?? (rest.type === "function" ? undefined : script);
    return {
      ...rest,
      action,
      ...(message !== undefined && { message }),
      ...(name !== undefined && { name }),
      ...(functions !== undefined && { functions }),
      ...(command !== undefined && { command }),
    };
  });

/** Actions that run after a step, or after a module of a flow. */
export const actions = list(action, ACTIONS_PER_STEP).default([]);

const common = {
  name: stepName,
  log: text.exactOptional(),
  pre_condition: filledText.exactOptional(),
  timeout: timeout.exactOptional(),
  exports: textMap(variableKey, EXPORTS_PER_STEP).default({}),
  on_success: actions,
  on_error: actions,
  depends_on: list(stepName, STEPS_PER_WORKFLOW).exactOptional(),
  decision: decision.exactOptional(),
  retry: retry.exactOptional(),
};

const commands = {
  command: filledText.exactOptional(),
  commands: filledList(filledText, COMMANDS_PER_STEP).exactOptional(),
  parallel_commands: filledList(filledText, COMMANDS_PER_STEP).exactOptional(),
  speed_args: text.exactOptional(),
  config_args: text.exactOptional(),
  input_args: text.exactOptional(),
  output_args: text.exactOptional(),
};

interface Commands {
  readonly command?: string;
  readonly commands?: readonly string[];
  readonly parallel_commands?: readonly string[];
  readonly speed_args?: string;
  readonly config_args?: string;
  readonly input_args?: string;
  readonly output_args?: string;
}

function hasCommand(step: Commands): boolean {
  return step.command !== undefined || step.commands !== undefined || step.parallel_commands !== undefined;
}

/** Appends the four kinds of arguments to the command, in this order; a list of commands accepts none. */
function joinArguments<Fields extends Commands>(step: Fields) {
  const { speed_args, config_args, input_args, output_args, ...rest } = step;
  const given = [speed_args, config_args, input_args, output_args].filter(
    (part) => (part ?? "").trim() !== "",
  );
  if (rest.command === undefined || given.length === 0) return rest;
  return { ...rest, command: [rest.command.trimEnd(), ...given].join(" ") };
}

/** The container or host on which commands run instead of the worker. */
export const runnerConfig = z
  .strictObject(
    {
      image: text.exactOptional(),
      volumes: list(filledText, VOLUMES_PER_STEP).exactOptional(),
      network: text.exactOptional(),
      persistent: boolean.exactOptional(),
      privileged: boolean
        .refine((value) => !value, { error: "privileged containers are not allowed" })
        .exactOptional(),
      host: text.exactOptional(),
      port: text.exactOptional(),
      key_file: text.exactOptional(),
      password: text.exactOptional(),
      user: text.exactOptional(),
      workdir: text.exactOptional(),
      env: textMap(
        z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: "is not a valid variable name" }),
        EXPORTS_PER_STEP,
      ).exactOptional(),
    },
    expected("a map"),
  )
  .transform(({ privileged: _never, ...config }) => config);

const bash = z
  .strictObject({
    type: z.literal("bash"),
    ...common,
    ...commands,
    std_file: filledText.exactOptional(),
    step_runner: z.enum(["host", "docker", "ssh"], expected("host, docker or ssh")).exactOptional(),
    step_runner_config: runnerConfig.exactOptional(),
  })
  .refine(hasCommand, { error: "a bash step requires command, commands or parallel_commands" })
  .transform(joinArguments);

const functionStep = z
  .strictObject({
    type: z.literal("function"),
    ...common,
    function: filledText.exactOptional(),
    functions: filledList(filledText, COMMANDS_PER_STEP).exactOptional(),
    parallel_functions: filledList(filledText, COMMANDS_PER_STEP).exactOptional(),
  })
  .refine((step) => Boolean(step.function ?? step.functions ?? step.parallel_functions), {
    error: "a function step requires function, functions or parallel_functions",
  });

function parallelSteps(anyStep: z.ZodType<Step>) {
  return z.strictObject({
    type: z.literal("parallel-steps"),
    ...common,
    parallel_steps: filledList(anyStep, PARALLEL_STEPS),
  });
}

const parallelItems = z
  .union([z.number(), z.string()], expected("a number or a template"))
  .transform((value) => (typeof value === "string" && /^\d{1,5}$/.test(value) ? Number(value) : value))
  .refine((value) => (typeof value === "string" ? isTemplate(value) : isItemCount(value)), {
    error: `must be 1 to ${FOREACH_PARALLEL_ITEMS}, or a template`,
  });

function isItemCount(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= FOREACH_PARALLEL_ITEMS;
}

function foreach(anyStep: z.ZodType<Step>) {
  return z
    .strictObject({
      type: z.literal("foreach"),
      ...common,
      input: z.union([filledText, z.array(text)], expected("a path, a template or a list of texts")),
      variable: loopVariable,
      variable_pre_process: filledText.exactOptional(),
      step: anyStep,
      parallel: parallelItems.exactOptional(),
      threads: parallelItems.exactOptional(),
    })
    .transform(({ parallel, threads, ...rest }) => ({ ...rest, parallel: parallel ?? threads ?? 1 }));
}

const remoteBash = z
  .strictObject({
    type: z.literal("remote-bash"),
    ...common,
    ...commands,
    std_file: filledText.exactOptional(),
    step_runner: z.enum(["docker", "ssh"], expected("docker or ssh")),
    step_runner_config: runnerConfig.default({}),
    step_remote_file: filledText.exactOptional(),
    host_output_file: filledText.exactOptional(),
  })
  .refine(hasCommand, { error: "a remote-bash step requires command, commands or parallel_commands" })
  .transform(joinArguments);

const http = z.strictObject({
  type: z.literal("http"),
  ...common,
  url: filledText.refine(isHttpUrl, { error: "must be an http or https URL" }),
  method: text
    .default("GET")
    .transform((value) => (isTemplate(value) ? value : value.trim().toUpperCase()))
    .refine((value) => isTemplate(value) || HTTP_METHOD.test(value), { error: "must be an HTTP method" }),
  headers: textMap(
    z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, { error: "is not a valid HTTP header name" }),
    EXPORTS_PER_STEP,
  ).default({}),
  request_body: text.exactOptional(),
});

function isHttpUrl(value: string): boolean {
  return isTemplate(value) || (/^https?:\/\//i.test(value.trim()) && URL.canParse(value));
}

const llm = z
  .strictObject({
    type: z.literal("llm"),
    ...common,
    messages: messages.exactOptional(),
    is_embedding: boolean.default(false),
    embedding_input: embeddingInput.exactOptional(),
    llm_config: object("a map").exactOptional(),
    tools: tools.exactOptional(),
    tool_choice: toolChoice.exactOptional(),
    stream: boolean.exactOptional(),
    extra_llm_parameters: object("a map").exactOptional(),
  })
  .refine((step) => step.is_embedding || step.messages !== undefined, {
    error: "an llm step requires messages, or is_embedding: true with embedding_input",
  })
  .refine((step) => !step.is_embedding || step.embedding_input !== undefined, {
    error: "is required if is_embedding is true",
    path: ["embedding_input"],
  });

/** A step as written, normalized. Seed: workflow 2.7. */
export const step: z.ZodType<Step> = z.lazy(() => steps);

const schemas = {
  bash,
  function: functionStep,
  "parallel-steps": parallelSteps(step),
  foreach: foreach(step),
  "remote-bash": remoteBash,
  http,
  llm,
} satisfies { [Type in StepType]: z.ZodType<StepByType[Type]> };

const steps = z.discriminatedUnion(
  "type",
  [
    schemas.bash,
    schemas.function,
    schemas["parallel-steps"],
    schemas.foreach,
    schemas["remote-bash"],
    schemas.http,
    schemas.llm,
  ],
  {
    error: (issue) => {
      if (issue.code !== "invalid_union")
        return issue.input === undefined ? "is required" : "must be a step, a map";
      const type = typeOf(issue.input);
      const known = `must be one of: ${STEP_TYPES.join(", ")}`;
      if (type === undefined) return `is required: ${known}`;
      return AGENTS.test(type)
        ? `steps of type ${shorten(type)} are not available: use llm to call a language model; ${known}`
        : `unknown step type "${shorten(type)}": ${known}`;
    },
  },
);

/** Agent steps run their own programs and are not supported. */
const AGENTS = /^agent(?:-|$)/;

function typeOf(input: unknown): string | undefined {
  if (typeof input !== "object" || input === null || !("type" in input)) return undefined;
  return typeof input.type === "string" ? input.type : JSON.stringify(input.type);
}
