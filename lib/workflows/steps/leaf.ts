import { failureText, StepCancelled, StepFailed } from "../engine/step-failure.ts";
import { parseTemplate } from "../expressions/parse.ts";
import { renderText } from "../expressions/text.ts";
import { RETRY_DELAY_MS } from "../schema/limits.ts";
import type { LeafStep, Step } from "../schema/types.ts";
import { runActions } from "./actions.ts";
import { runBash } from "./bash.ts";
import type { Attempt, Scope, StepOutput } from "./context.ts";
import { followDecision } from "./decision.ts";
import { exportsOf } from "./exports.ts";
import { runFunction } from "./function.ts";
import { runHttp } from "./http.ts";
import { runRemoteBash } from "./remote-bash.ts";
import { noteStep } from "./run-log.ts";
import { isTrue } from "./script.ts";
import { checkNames } from "./undefined-names.ts";

/** How a step ended, and what is to be kept of it. */
export interface LeafResult extends StepOutput {
  readonly status: "completed" | "failed" | "skipped";
  readonly error?: string;
  /** Failed, and the author told to go on. */
  readonly tolerated?: boolean;
  /** The step that is to follow, or `_end`. */
  readonly goto?: string;
  /** Failed, and is to be tried again then, milliseconds since the epoch. */
  readonly retryAt?: number;
}

/** Values that one step leaves, with those of its handlers: they are kept in the transaction of its result. */
const VALUES_MAX = 80;

export const NO_OUTPUT: StepOutput = { command: "", output: "", exports: {}, logFile: "" };

/**
 * One attempt at a step that holds no others: its condition, its message, its work, its exports, its
 * handlers. What goes wrong in it is its failure. Throws StepCancelled, and faults of the platform.
 */
export async function attemptLeaf(attempt: Attempt, scope: Scope, step: LeafStep): Promise<LeafResult> {
  return guarded(attempt, scope, step, async () => {
    if (!(await begin(attempt, scope, step))) return undefined;
    return work(attempt, scope, step);
  });
}

/** Condition and message of any step; false where it is to be skipped. */
export async function begin(attempt: Attempt, scope: Scope, step: Step): Promise<boolean> {
  checkNames(attempt, scope, step, "condition");
  if (step.pre_condition !== undefined && !(await isTrue(attempt, scope, step.pre_condition))) return false;
  checkNames(attempt, scope, step, "work");
  if (step.log !== undefined) {
    const { secrets: _secrets, ...shown } = scope.values;
    const text = renderText(parseTemplate(step.log, scope), shown);
    attempt.deps.log.info("workflow message", { run: attempt.run.run_id, step: attempt.request.key, text });
    noteStep(attempt, text);
  }
  return true;
}

/** Does the work of a step and all that follows from how it ends. */
export async function guarded(
  attempt: Attempt,
  scope: Scope,
  step: Step,
  run: () => Promise<StepOutput | undefined>,
): Promise<LeafResult> {
  try {
    const output = await run();
    if (output === undefined) return { ...NO_OUTPUT, status: "skipped" };
    const exports = await exportsOf(attempt, scope, output);
    const done = { ...scope, values: { ...scope.values, ...exports } };
    const actions = await runActions(attempt, done, step.on_success);
    const values = { ...exports, ...actions.exports };
    if (Object.keys(values).length > VALUES_MAX)
      throw new StepFailed(`exports: more than ${VALUES_MAX} values of one step`);
    const goto =
      output.goto !== undefined || step.decision === undefined
        ? output.goto
        : await followDecision(attempt, { ...scope, values: { ...scope.values, ...values } }, step.decision);
    return { ...output, status: "completed", exports: values, ...(goto === undefined ? {} : { goto }) };
  } catch (thrown) {
    if (thrown instanceof StepCancelled || attempt.signal.aborted) throw new StepCancelled();
    if (isPlatformFault(thrown)) throw thrown;
    // On a full disk a command fails because its output cannot be written: that is no failure of the step.
    const fault = await attempt.deps.storage?.check();
    if (fault !== undefined) throw fault;
    const error = attempt.deps.secrets.redact(failureText(thrown));
    const retryAt = nextTry(attempt, step);
    if (retryAt !== undefined) return { ...NO_OUTPUT, status: "failed", error, retryAt };
    const left = thrown instanceof StepFailed ? thrown.exports : {};
    const failed = { ...scope, values: { ...scope.values, ...left, error } };
    const actions = await runActions(attempt, failed, step.on_error);
    const values = Object.fromEntries(Object.entries({ ...left, ...actions.exports }).slice(0, VALUES_MAX));
    return { ...NO_OUTPUT, status: "failed", error, tolerated: actions.tolerated, exports: values };
  }
}

/** When a step that failed is to be tried again; undefined where it is not. */
function nextTry({ deps, tries }: Attempt, { retry }: Step): number | undefined {
  if (retry === undefined || tries >= retry.max_attempts) return undefined;
  const delay = Math.min(RETRY_DELAY_MS, retry.delay * retry.backoff ** (tries - 1));
  return deps.clock.now() + Math.round(delay);
}

/** A fault of the machinery, not of the step: the message is delivered again. */
function isPlatformFault(thrown: unknown): boolean {
  const code = (thrown as { code?: unknown } | null)?.code;
  return typeof code === "string" && PLATFORM_CODES.has(code);
}

const PLATFORM_CODES: ReadonlySet<string> = new Set([
  ...["unavailable", "throttled", "storage_full", "storage_read_only", "storage_damaged"],
  // Of files beside the tables: where a step's output goes, for one.
  ...["ENOSPC", "EDQUOT", "EROFS"],
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
