import { redactJson } from "../../events/redact-json.ts";
import { completeChat, embedTexts } from "../../llm/complete.ts";
import { type CallConfig, callConfig, type LlmParameters } from "../../llm/config.ts";
import { LlmError } from "../../llm/errors.ts";
import { StepFailedError } from "../engine/step-failure.ts";
import { parseTemplate } from "../expressions/parse.ts";
import { renderText, renderValue } from "../expressions/render-text.ts";
import { variableName } from "../expressions/variable-names.ts";
import type { LlmStep } from "../schema/types.ts";
import { remaining } from "./attempt-environment.ts";
import type { Attempt, Scope, StepOutput } from "./context.ts";

/** Timeout of all requests if the step has none, milliseconds: slightly less than Lambda's limit. */
const STEP_TIMEOUT_MS = 13 * 60 * 1000;

/** Maximum size of the rendered texts of one step. */
const INPUT_MAX_BYTES = 32 * 1024 * 1024;

/**
 * Sends a request to a language model, or for embeddings. Placeholders in texts of the step are rendered once, so
 * placeholders in values are not rendered. Throws StepFailedError. Seed: workflow 2.7 (llm).
 */
export async function runLlm(attempt: Attempt, scope: Scope, step: LlmStep): Promise<StepOutput> {
  const config = callConfig({
    stream: step.stream,
    extra: valuesIn(step.extra_llm_parameters, scope),
    config: valuesIn(step.llm_config, scope),
  });
  try {
    return step.is_embedding
      ? await embed(attempt, scope, step, config)
      : await chat(attempt, scope, step, config);
  } catch (thrown) {
    if (!(thrown instanceof LlmError) || thrown.fault !== "failed") throw thrown;
    throw new StepFailedError(`the call of the language model failed: ${thrown.message}`, { cause: thrown });
  }
}

async function chat(attempt: Attempt, scope: Scope, step: LlmStep, config: CallConfig): Promise<StepOutput> {
  const messages = (step.messages ?? []).map((message) => textsIn(message, scope));
  const tools = (step.tools ?? []).map((tool) => textsIn(tool, scope));
  const toolChoice = textsIn(step.tool_choice, scope);
  checkSize([messages, tools]);
  const request = { messages, tools, ...(toolChoice === undefined ? {} : { toolChoice }) };
  const answer = redacted(attempt, await completeChat(attempt.deps, config, request, boundsOf(attempt)));
  const prefix = variableName(step.name);
  return {
    command: `chat with ${answer.model} (${counted(messages.length, "message")})`,
    output: answer.content,
    exports: { [`${prefix}_llm_resp`]: answer, [`${prefix}_content`]: answer.content },
    logFile: "",
  };
}

async function embed(attempt: Attempt, scope: Scope, step: LlmStep, config: CallConfig): Promise<StepOutput> {
  const input = (step.embedding_input ?? []).flatMap((text) => inputsOf(text, scope));
  if (input.length === 0) throw new StepFailedError("embedding_input: must not be empty");
  checkSize(input);
  const answer = await embedTexts(attempt.deps, config, input, boundsOf(attempt));
  const prefix = variableName(step.name);
  return {
    command: `embeddings by ${answer.model} (${counted(input.length, "text")})`,
    output: `Generated ${answer.embeddings.length} embeddings`,
    exports: { [`${prefix}_llm_resp`]: answer },
    logFile: "",
  };
}

function boundsOf(attempt: Attempt) {
  return {
    budgetMs: remaining(attempt, attempt.deadline === undefined ? STEP_TIMEOUT_MS : Infinity),
    signal: attempt.signal,
  };
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** Renders every text in the value as text. */
function textsIn<Value>(value: Value, scope: Scope): Value {
  return deeply(value, (text) => renderText(parseTemplate(text, scope), scope.values)) as Value;
}

/** Renders every text in the map; a lone placeholder keeps the type of its value, so a number stays a number. */
function valuesIn(map: LlmParameters | undefined, scope: Scope): LlmParameters | undefined {
  const rendered = deeply(map, (text) => renderValue(parseTemplate(text, scope), scope.values));
  return rendered as LlmParameters | undefined;
}

function deeply(value: unknown, render: (text: string) => unknown): unknown {
  if (typeof value === "string") return render(value);
  if (Array.isArray(value)) return value.map((item) => deeply(item, render));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, deeply(item, render)]));
}

/** A lone placeholder may be a list: each of its items is a text to embed. */
function inputsOf(text: string, scope: Scope): string[] {
  const value = renderValue(parseTemplate(text, scope), scope.values);
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  return items.map((item) => (typeof item === "string" ? item : (JSON.stringify(item) ?? "")));
}

function checkSize(texts: unknown): void {
  if (Buffer.byteLength(JSON.stringify(texts)) > INPUT_MAX_BYTES)
    throw new StepFailedError(`the texts of the step are larger than ${INPUT_MAX_BYTES} bytes`);
}

function redacted<Value>(attempt: Attempt, value: Value): Value {
  return redactJson(value, attempt.deps.secrets.redact);
}
