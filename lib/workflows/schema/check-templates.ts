import { parseTemplate } from "../expressions/parse.ts";
import { OperationError, TemplateError } from "../expressions/template-error.ts";
import type { Findings, Path } from "./problems.ts";
import type { Param } from "./types.ts";

/** Nested steps are checked with their own paths; names and types are not templates. */
const SKIPPED: ReadonlySet<string> = new Set(["step", "steps", "parallel_steps", "name", "type"]);

/** Rejects syntax errors in defaults, since no run can start from a default that cannot be rendered. */
export function checkDefaults(params: readonly Param[], findings: Findings): void {
  for (const [at, { default: text }] of params.entries()) {
    const error = templateError(text);
    if (error !== undefined) findings.refuse(["params", at, "default"], error.message);
  }
}

/**
 * Rejects operations in the expressions of a step, module or report that always fail. Syntax errors are only warnings
 * (`lintDefinition`): a step that never runs may contain braces meant for another program.
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
