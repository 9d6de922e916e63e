import { StepFailedError } from "../engine/step-failure.ts";
import { parseTemplate } from "../expressions/parse.ts";
import { renderText } from "../expressions/render-text.ts";
import type { FunctionStep } from "../schema/types.ts";
import { BUILTIN_NAMES } from "../values/built-in-values.ts";
import { type Given, type ParamValues, paramValues } from "../values/param-values.ts";
import { type BaseValues, moduleBase } from "../values/stored-values.ts";
import { runActions } from "./actions.ts";
import { type AttemptResult, NO_OUTPUT } from "./attempt-step.ts";
import type { Attempt, Scope } from "./context.ts";
import { checkDependencies } from "./dependencies.ts";
import { recordReports } from "./report-artifacts.ts";
import { isTrue } from "./script.ts";
import { checkNames } from "./undefined-names.ts";

/**
 * The gate of a module, before its steps: checks its condition, its parameters and its dependencies. Skipped if the
 * condition is not true. `named` are the parameters that the run received or its flow declares. Throws StepFailedError if
 * the module cannot start. Reference 2.3, 2.8.
 */
export async function passGate(
  attempt: Attempt,
  scope: Scope,
  step: FunctionStep,
  named: readonly string[] = [],
): Promise<AttemptResult> {
  const { given = {}, params = [], dependencies } = step.gate ?? {};
  if (step.pre_condition !== undefined && !(await isTrue(attempt, scope, step.pre_condition)))
    return { ...NO_OUTPUT, status: "skipped" };
  checkNames(attempt, scope, step, "work");
  const found = paramValues(params, scope.values, {
    ...givenParams(scope, given, params, new Set(named)),
    now: attempt.deps.clock.now(),
    undefinedNames: attempt.run.undefined_names,
  });
  if (found.problem !== undefined) throw new StepFailedError(found.problem);
  const inner: Scope = { ...scope, values: found.values };
  if (dependencies !== undefined) await checkDependencies(attempt, inner, dependencies);
  return { ...NO_OUTPUT, status: "completed", exports: { [moduleBase(step.name)]: baseOf(found) } };
}

const BUILTINS: ReadonlySet<string> = new Set(BUILTIN_NAMES);

/** Returns the parameters that the flow gives its module, and those of the run, which take precedence over defaults. */
function givenParams(
  scope: Scope,
  given: NonNullable<FunctionStep["gate"]>["given"],
  params: NonNullable<FunctionStep["gate"]>["params"],
  named: ReadonlySet<string>,
): Omit<Given, "now"> {
  const texts: Record<string, string> = {};
  const trusted = new Set<string>();
  for (const { name } of params) {
    const value = scope.values[name];
    if (value === undefined || value === null) continue;
    // A built-in variable is the value of a parameter with its name only if the run or the flow sets it.
    if (BUILTINS.has(name) && !named.has(name)) continue;
    texts[name] = typeof value === "string" ? value : JSON.stringify(value);
    if (scope.trusted.has(name)) trusted.add(name);
  }
  for (const [name, source] of Object.entries(given)) {
    texts[name] = renderText(parseTemplate(source, scope), scope.values);
    if (source.includes("{{")) trusted.delete(name);
    else trusted.add(name);
  }
  const target = scope.values["Target"];
  return { params: texts, target: typeof target === "string" ? target : "", trusted };
}

function baseOf({ values, params, trusted }: ParamValues): BaseValues {
  const own = Object.keys(params).map((name) => [name, values[name]] as const);
  return { values: Object.fromEntries(own), trusted: trusted.filter((name) => name in params) };
}

/**
 * The handlers of a module, after its steps: runs the actions of its flow and, if the module succeeded, records its
 * reports. `error` is the error of a failed module.
 */
export async function runHandlers(
  attempt: Attempt,
  scope: Scope,
  step: FunctionStep,
  error: string | undefined,
): Promise<AttemptResult> {
  const inner = error === undefined ? scope : { ...scope, values: { ...scope.values, error } };
  const { tolerated, exports } = await runActions(
    attempt,
    inner,
    error === undefined ? step.on_success : step.on_error,
  );
  if (error === undefined) await recordReports(attempt, scope, step.reports ?? []);
  return { ...NO_OUTPUT, status: "completed", tolerated, exports };
}
