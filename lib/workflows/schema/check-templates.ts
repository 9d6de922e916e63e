import { parseTemplate } from "../expressions/parse.ts";
import { OperationError, TemplateError } from "../expressions/template-error.ts";
import type { Findings, Path } from "./problems.ts";
import type { Param } from "./types.ts";

/** Steps inside of others are checked with paths of their own; names and types are no templates. */
const SKIPPED: ReadonlySet<string> = new Set(["step", "steps", "parallel_steps", "name", "type"]);

/** No run can start from a default that cannot be rendered, so a syntax error is refused, too. */
export function checkDefaults(params: readonly Param[], findings: Findings): void {
  for (const [at, { default: text }] of params.entries()) {
    const error = templateError(text);
    if (error !== undefined) findings.refuse(["params", at, "default"], error.message);
  }
}

/**
 * Refuses operations in the expressions of a step, module or report that fail whatever the values are. Syntax errors are warnings only:
 * a step that no run reaches may hold braces meant for another program. (`lintDefinition`.)
 */
export function checkExpressions(part: object, at: Path, findings: Findings): void {
  for (const [field, value] of Object.entries(part)) {
    if (!SKIPPED.has(field)) checkValue(value, [...at, field], findings);
  }
}

function checkValue(value: unknown, path: Path, findings: Findings): void {
  if (typeof value === "object" && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      checkValue(inner, [...path, Array.isArray(value) ? Number(key) : key], findings);
    }
    return;
  }
  const error = templateError(value);
  if (error instanceof OperationError) findings.refuse(path, error.message);
}

function templateError(value: unknown): TemplateError | undefined {
  if (typeof value !== "string" || !value.includes("{{")) return undefined;
  try {
    parseTemplate(value);
    return undefined;
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
}
