import { parseTemplate } from "../expressions/parse.ts";
import { renderText, renderValue } from "../expressions/text.ts";
import { variableName } from "../expressions/variable-names.ts";
import type { Attempt, Scope, StepOutput } from "./context.ts";
import { evaluateScript } from "./script.ts";

/** A call as the author wrote it; what placeholders stand for is never looked at. */
const CALL = /^\s*!*[A-Za-z_$][\w$.]*\s*\([\s\S]*\)\s*;?\s*$/;

/** A call with an operator behind it: `file_length("x") > 2`. Text with a space before its parenthesis is text. */
const CALL_IN_EXPRESSION = /^\s*!*[A-Za-z_$][\w$.]*\([\s\S]*\)\s*(?:[<>=!&|+\-*/%?]|\.[A-Za-z_$]|\[)/;

const LONE_REFERENCE = /^\s*(?:\{\{[^{}]*\}\}|\[\[[^[\]]*\]\])\s*$/;

/**
 * The values that a step leaves for later ones: `<step>_output`, those that its type adds, and `exports`.
 * An export is: `output` alone, the step's output; a call, or an expression that begins with one, its result; a single placeholder, its value as it
 * is; else text. Throws StepFailed.
 */
export async function exportsOf(
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
