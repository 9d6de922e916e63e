import { nextRetryAt } from "../engine/retry-policy.ts";
import { failureText, StepCancelledError, StepFailedError } from "../engine/step-failure.ts";
import { parseTemplate } from "../expressions/parse.ts";
import { renderText, renderValue } from "../expressions/render-text.ts";
import { variableName } from "../expressions/variable-names.ts";
import type { Decision, DecisionCase, LeafStep, Step } from "../schema/types.ts";
import { runActions, runCommandAction } from "./actions.ts";
import { runBash } from "./bash.ts";
import type { Attempt, Scope, StepOutput } from "./context.ts";
import { runFunction } from "./function.ts";
import { runHttp } from "./http.ts";
import { runRemoteBash } from "./remote-bash.ts";
import { logStep } from "./run-log.ts";
import { evaluateScript, isTrue } from "./script.ts";
import { checkNames } from "./undefined-names.ts";

/** A call as the author wrote it, before placeholders are replaced: values never match it. */
const CALL = /^\s*!*[A-Za-z_$][\w$.]*\s*\([\s\S]*\)\s*;?\s*$/;

/** A call followed by an operator: `file_length("x") > 2`. With a space before the parenthesis it is text. */
const CALL_IN_EXPRESSION = /^\s*!*[A-Za-z_$][\w$.]*\([\s\S]*\)\s*(?:[<>=!&|+\-*/%?]|\.[A-Za-z_$]|\[)/;

const LONE_REFERENCE = /^\s*(?:\{\{[^{}]*\}\}|\[\[[^[\]]*\]\])\s*$/;

/**
 * Returns the values that a step sets for later steps: `<step>_output`, those of its type, and its `exports`. The value
 * of an export is: the step's output for `output` alone; the result of a call, or of an expression that begins with
 * one; the unchanged value of a single placeholder; otherwise rendered text. Throws StepFailedError.
 */
async function exportsOf(
  attempt: Attempt,
  scope: Scope,
  output: StepOutput,
): Promise<Record<string, unknown>> {
  const { step } = attempt;
  const own = { ...output.exports, [`${variableName(step.name)}_output`]: output.output };
  const inner: Scope = { ...scope, values: { ...scope.values, ...own, output: output.output } };
  const named: Record<string, unknown> = {};
  for (const [name, source] of Object.entries(step.exports))
    named[name] = await exportValue(attempt, inner, source);
  return { ...own, ...named };
}

async function exportValue(attempt: Attempt, scope: Scope, source: string): Promise<unknown> {
  if (source.trim() === "output") return scope.values["output"];
  if (CALL.test(source) || CALL_IN_EXPRESSION.test(source))
    return (await evaluateScript(attempt, scope, source)).value;
  const template = parseTemplate(source, scope);
  return LONE_REFERENCE.test(source)
    ? (renderValue(template, scope.values) ?? "")
    : renderText(template, scope.values);
}

/**
 * Runs the decision of a successful step: the case that its switch selects, then all conditions that hold. Returns the
 * last `goto`. A failing command or function of a case is logged and ignored. Throws StepFailedError if the switch or a
 * condition cannot be evaluated. Reference 2.4.
 */
async function followDecision(
  attempt: Attempt,
  scope: Scope,
  decision: Decision,
): Promise<string | undefined> {
  let goto: string | undefined;
  for (const one of await casesOf(attempt, scope, decision)) {
    await carryOut(attempt, scope, one);
    goto = one.goto ?? goto;
  }
  return goto;
}

async function casesOf(
  attempt: Attempt,
  scope: Scope,
  { switch: source, cases, default: otherwise, conditions }: Decision,
): Promise<DecisionCase[]> {
  const picked: DecisionCase[] = [];
  if (source !== undefined) {
    const value = renderText(parseTemplate(source, scope), scope.values).trim();
    const found = Object.hasOwn(cases, value) ? cases[value] : otherwise;
    if (found !== undefined) picked.push(found);
  }
  for (const condition of conditions) if (await isTrue(attempt, scope, condition.if)) picked.push(condition);
  return picked;
}

async function carryOut(
  attempt: Attempt,
  scope: Scope,
  { commands, functions }: DecisionCase,
): Promise<void> {
  try {
    for (const command of commands) await runCommandAction(attempt, scope, command);
    for (const source of functions) await evaluateScript(attempt, scope, source);
  } catch (error) {
    if (error instanceof StepCancelledError || attempt.signal.aborted) throw error;
    attempt.deps.log.warn("a decision's case failed", {
      run: attempt.run.run_id,
      step: attempt.request.key,
      error,
    });
  }
}

/** The outcome of an attempt, and the values to keep. */
export interface AttemptResult extends StepOutput {
  readonly status: "completed" | "failed" | "skipped";
  readonly error?: string;
  /** Failed, and the author chose to continue. */
  readonly tolerated?: boolean;
  /** The next step, or `_end`. */
  readonly goto?: string;
  /** Failed; to be retried at this time, milliseconds since the epoch. */
  readonly retryAt?: number;
}

/** Maximum number of values that a step and its handlers set: they are stored in the transaction of its result. */
const VALUES_MAX = 80;

export const NO_OUTPUT: StepOutput = { command: "", output: "", exports: {}, logFile: "" };

/**
 * Executes one attempt of a step that is not a container: its condition, message, work, exports and handlers. An error
 * in any of them is the step's failure. Throws StepCancelledError, and rethrows platform faults.
 */
export async function attemptStep(attempt: Attempt, scope: Scope, step: LeafStep): Promise<AttemptResult> {
  return guarded(attempt, scope, step, async () => {
    if (!(await begin(attempt, scope, step))) return undefined;
    return work(attempt, scope, step);
  });
}

/** Evaluates the condition and writes the message of a step; returns false if the step is to be skipped. */
export async function begin(attempt: Attempt, scope: Scope, step: Step): Promise<boolean> {
  checkNames(attempt, scope, step, "condition");
  if (step.pre_condition !== undefined && !(await isTrue(attempt, scope, step.pre_condition))) return false;
  checkNames(attempt, scope, step, "work");
  if (step.log !== undefined) {
    const { secrets: _secrets, ...shown } = scope.values;
    const text = renderText(parseTemplate(step.log, scope), shown);
    attempt.deps.log.info("workflow message", { run: attempt.run.run_id, step: attempt.request.key, text });
    logStep(attempt, text);
  }
  return true;
}

/** Does the work of a step, then its exports, decision and handlers. */
export async function guarded(
  attempt: Attempt,
  scope: Scope,
  step: Step,
  run: () => Promise<StepOutput | undefined>,
): Promise<AttemptResult> {
  try {
    const output = await run();
    if (output === undefined) return { ...NO_OUTPUT, status: "skipped" };
    const exports = await exportsOf(attempt, scope, output);
    const done = { ...scope, values: { ...scope.values, ...exports } };
    const actions = await runActions(attempt, done, step.on_success);
    const values = { ...exports, ...actions.exports };
    if (Object.keys(values).length > VALUES_MAX)
      throw new StepFailedError(`exports: more than ${VALUES_MAX} values of one step`);
    const goto =
      output.goto !== undefined || step.decision === undefined
        ? output.goto
        : await followDecision(attempt, { ...scope, values: { ...scope.values, ...values } }, step.decision);
    return { ...output, status: "completed", exports: values, ...(goto === undefined ? {} : { goto }) };
  } catch (thrown) {
    if (thrown instanceof StepCancelledError || attempt.signal.aborted) throw new StepCancelledError();
    if (isPlatformFault(thrown)) throw thrown;
    // On a full disk a command fails because its output cannot be written: this is not the step's failure.
    const fault = await attempt.deps.storage?.check();
    if (fault !== undefined) throw fault;
    const error = attempt.deps.secrets.redact(failureText(thrown));
    const retryAt = nextRetryAt(step.retry, attempt.tries, attempt.deps.clock.now());
    const { command, logFile } = attempt.shown;
    const nothing = { ...NO_OUTPUT, command, logFile };
    if (retryAt !== undefined) return { ...nothing, status: "failed", error, retryAt };
    const left = thrown instanceof StepFailedError ? thrown.exports : {};
    const failed = { ...scope, values: { ...scope.values, ...left, error } };
    const actions = await runActions(attempt, failed, step.on_error);
    const values = Object.fromEntries(Object.entries({ ...left, ...actions.exports }).slice(0, VALUES_MAX));
    return { ...nothing, status: "failed", error, tolerated: actions.tolerated, exports: values };
  }
}

/** A platform fault is not the step's failure: its message is delivered again. */
function isPlatformFault(thrown: unknown): boolean {
  const code = (thrown as { code?: unknown } | null)?.code;
  return typeof code === "string" && PLATFORM_CODES.has(code);
}

const PLATFORM_CODES: ReadonlySet<string> = new Set([
  "unavailable",
  "throttled",
  "storage_full",
  "storage_read_only",
  "storage_damaged",
  // Errors of the file system, for example of the step's output files.
  "ENOSPC",
  "EDQUOT",
  "EROFS",
]);

function work(attempt: Attempt, scope: Scope, step: LeafStep): Promise<StepOutput> {
  switch (step.type) {
    case "bash":
      return runBash(attempt, scope, step);
    case "function":
      return runFunction(attempt, scope, step);
    case "http":
      return runHttp(attempt, scope, step);
    case "remote-bash":
      return runRemoteBash(attempt, scope, step);
    case "llm":
      return import("./llm.ts").then(({ runLlm }) => runLlm(attempt, scope, step));
  }
}
