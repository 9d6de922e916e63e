import type { EventDraft } from "../../events/publish.ts";
import { redactJson } from "../../events/redact-json.ts";
import { TOPIC_CHARACTERS } from "../../events/topic-match.ts";
import type { ScriptEvent, ScriptOutcome } from "../../platform/scripts.ts";
import { StepCancelledError, StepFailedError } from "../engine/step-failure.ts";
import { parseTemplate } from "../expressions/parse.ts";
import { renderScript } from "../expressions/render-script.ts";
import { eventBatches } from "../findings/event-batches.ts";
import { remaining, stepEnvironment, stepToken, timeFor } from "./attempt-environment.ts";
import type { Attempt, Scope } from "./context.ts";
import { logStep } from "./run-log.ts";

/** Timeout of one evaluation, including its waits, if the step has none, milliseconds. */
const SCRIPT_TIMEOUT_MS = 10 * 60 * 1000;
/** Processor time of one evaluation if the step has no timeout, milliseconds. */
const SCRIPT_CPU_MS = 30_000;
/** Timeout of a condition, milliseconds. */
export const CONDITION_TIMEOUT_MS = 30_000;
const IDENTIFIER = /[A-Za-z_$][\w$]*/g;

/** Number of scripts that an attempt has evaluated: every attempt evaluates them in the same order. */
const evaluations = new WeakMap<Attempt, number>();

export interface Evaluation {
  readonly value: unknown;
  /** The reason that the script gave for skipping the following steps. */
  readonly skipped?: string;
}

/**
 * Evaluates a script of a step: placeholders become variables, functions work in the workspace, and generated events
 * are recorded before the script counts as successful. Throws StepFailedError.
 */
export async function evaluateScript(
  attempt: Attempt,
  scope: Scope,
  source: string,
  options: { readonly timeoutMs?: number; readonly condition?: boolean } = {},
): Promise<Evaluation> {
  const { timeoutMs = timeFor(attempt, SCRIPT_TIMEOUT_MS), condition = false } = options;
  const evaluation = (evaluations.get(attempt) ?? 0) + 1;
  evaluations.set(attempt, evaluation);
  const asked = new Map<string, number>();
  const { code, variables } = renderScript(parseTemplate(source, scope), scope.values, {
    trusted: (root) => scope.trusted.has(root),
    condition,
  });
  const named: Record<string, unknown> = {};
  for (const [name] of code.matchAll(IDENTIFIER)) {
    if (Object.hasOwn(scope.values, name) || name in scope.values) named[name] = scope.values[name];
  }
  const outcome = await attempt.deps.scripts.run({
    code,
    variables: { ...named, ...variables },
    cwd: attempt.workspace,
    folders: [attempt.deps.paths.workspacesDir, ...(attempt.deps.paths.functionFolders ?? [])],
    network: attempt.deps.network.policy,
    env: stepEnvironment(attempt),
    timeoutMs,
    ...(attempt.step.timeout === undefined ? { cpuMs: SCRIPT_CPU_MS } : {}),
    isolate: attempt.run.run_id,
    token: stepToken(attempt),
    signal: attempt.signal,
    ...(attempt.deps.durable === undefined ? {} : { beforeEffects: attempt.deps.durable }),
    callHost: async (what, input, signal) => {
      const number = (asked.get(what) ?? 0) + 1;
      asked.set(what, number);
      const callId = `${evaluation}.${number}`;
      return (await import("./host-calls.ts")).handleHostCall(attempt, what, input, signal, callId);
    },
  });
  const { log } = attempt.deps;
  for (const { level, message } of outcome.logs) {
    log[level]("workflow message", { run: attempt.run.run_id, step: attempt.request.key, text: message });
    logStep(attempt, message);
  }
  await emitScriptEvents(attempt, outcome.events);
  if (outcome.skipped !== undefined && (outcome.ok || outcome.reason === "failed"))
    return { value: outcome.skipped, skipped: outcome.skipped };
  if (outcome.ok) return { value: outcome.value };
  if (outcome.reason === "aborted") throw new StepCancelledError();
  throw new StepFailedError(`script failed: ${whyOf(outcome, timeoutMs)}`);
}

function whyOf({ reason, message }: Extract<ScriptOutcome, { ok: false }>, timeoutMs: number): string {
  if (reason === "timeout") return `timed out after ${timeoutMs} ms`;
  if (reason === "cpu")
    return `it used ${SCRIPT_CPU_MS / 1_000} s of processor time; a step with a timeout may use more`;
  return message;
}

/** Returns whether a condition is truthy in JavaScript. Throws StepFailedError if it cannot be evaluated. */
export async function isTrue(attempt: Attempt, scope: Scope, condition: string): Promise<boolean> {
  const { value } = await evaluateScript(attempt, scope, condition, {
    timeoutMs: remaining(attempt, CONDITION_TIMEOUT_MS),
    condition: true,
  });
  return Boolean(value);
}

async function emitScriptEvents(attempt: Attempt, events: readonly ScriptEvent[]): Promise<void> {
  const { run, deps } = attempt;
  const drafts = events.map((event): EventDraft => {
    if (event.topic.length > TOPIC_CHARACTERS)
      throw new StepFailedError(`generate_event: a topic has at most ${TOPIC_CHARACTERS} characters`);
    return {
      topic: event.topic,
      source: event.source === "" ? "executor" : event.source,
      data_type: event.data_type,
      workspace: event.workspace === "" ? run.workspace : event.workspace,
      run_id: run.run_id,
      workflow_name: run.workflow_name,
      hop: run.hop + 1,
      data: redactJson(event.data, deps.secrets.redact),
      ...(event.effect === undefined ? {} : { effect: event.effect }),
    };
  });
  for (const batch of eventBatches(drafts)) await attempt.emit(batch);
}
