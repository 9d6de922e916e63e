import { parseTemplate } from "../expressions/parse.ts";
import { renderText } from "../expressions/render-text.ts";
import type { FunctionStep } from "../schema/types.ts";
import type { Attempt, Scope, StepOutput } from "./context.ts";
import { type Evaluation, evaluateScript } from "./script.ts";

/**
 * Evaluates the functions of a step. The output is the result of the first one; the others run for their effects.
 * Throws StepFailedError. Seed: workflow 2.7.
 */
export async function runFunction(attempt: Attempt, scope: Scope, step: FunctionStep): Promise<StepOutput> {
  const sources = step.parallel_functions ?? step.functions ?? [step.function ?? ""];
  const values = { ...scope.values, ...("secrets" in scope.values ? { secrets: {} } : {}) };
  attempt.shown.command = sources
    .map((source) => renderText(parseTemplate(source, scope), values))
    .join("\n");
  const results: Evaluation[] = [];
  if (step.parallel_functions !== undefined) {
    const settled = await Promise.allSettled(sources.map((source) => evaluateScript(attempt, scope, source)));
    for (const result of settled) {
      if (result.status === "rejected") throw result.reason;
      results.push(result.value);
    }
  } else {
    for (const source of sources) {
      const result = await evaluateScript(attempt, scope, source);
      results.push(result);
      if (result.skipped !== undefined) break;
    }
  }
  return {
    command: attempt.shown.command,
    output: results[0]?.value ?? null,
    exports: {},
    logFile: "",
    ...(results.some(({ skipped }) => skipped !== undefined) ? { goto: "_end" } : {}),
  };
}
