import { endsWith, evaluate, isRaw, type Trust } from "./evaluate.ts";
import type { Expression } from "./expression-tree.ts";
import { isReference, type Reference, type TemplateSource, toTemplate } from "./parse.ts";
import { executedMessage } from "./render-shell.ts";
import type { Hole } from "./shell-context.ts";
import { findExecution } from "./shell-execution.ts";
import { HOLE, lexShell } from "./shell-lexer.ts";
import { withHoles } from "./shell-source.ts";
import type { HoleKind } from "./shell-values.ts";
import { toText } from "./values.ts";

export interface ShellWarning {
  readonly rule: "raw" | "inner-program" | "arithmetic" | "expansion";
  readonly message: string;
  /** Offset of the value in the template's text, in UTF-16 units. */
  readonly offset: number;
}

export interface ShellLint {
  readonly warnings: readonly ShellWarning[];
  /** Values that would be executed; every run rejects them. */
  readonly errors: readonly { readonly message: string; readonly offset: number }[];
}

/**
 * Checks a bash command before its values are known. Values that reach an interpreter are errors; values that may act
 * as more than data, or may be rejected, are warnings. Texts of the workflow file, given in `own` by name, are
 * ignored. Throws TemplateError if the template cannot be parsed.
 */
export function lintShell(source: TemplateSource, own: ReadonlyMap<string, string> = new Map()): ShellLint {
  const template = toTemplate(source);
  const warnings: ShellWarning[] = [];
  const errors: { message: string; offset: number }[] = [];
  for (const part of template.parts) {
    if (!isReference(part) || !isRaw(part.expression)) continue;
    const message = "| raw makes the value part of the command's syntax";
    warnings.push({ rule: "raw", message, offset: part.offset });
  }
  const { source: text, references } = withHoles(template, (reference) => ownText(reference, own));
  const lexed = lexShell(text);
  const rules = findExecution(text, lexed, (hole) => kindOf(references[hole]));
  for (const [position, hole] of lexed.holes.entries()) {
    const reference = references[position];
    if (reference === undefined) break;
    const { offset } = reference;
    const reader = rules.executed.get(position);
    if (reader !== undefined) errors.push({ message: executedMessage(reader), offset });
    const warning = judge(hole, rules.filtering.get(position));
    if (warning !== undefined && reader === undefined) warnings.push({ ...warning, offset });
  }
  return { warnings: warnings.sort((one, other) => one.offset - other.offset), errors };
}

const kindOf = (reference: Reference | undefined): HoleKind =>
  reference === undefined
    ? undefined
    : endsWith(reference.expression, "shell")
      ? "shell"
      : endsWith(reference.expression, "split")
        ? "split"
        : undefined;

/** The text of a value that is part of the workflow file, or that its author makes part of the command. */
function ownText({ expression }: Reference, own: ReadonlyMap<string, string>): string | undefined {
  if (isRaw(expression)) return "raw";
  if (!isOwnText(expression, (root) => own.has(root)) || endsWith(expression, "shell")) return undefined;
  try {
    return toText(evaluate(expression, (root) => own.get(root)).value).replaceAll(HOLE, "");
  } catch {
    return "text";
  }
}

/** Whether all of the value is text of the workflow file. */
function isOwnText(expression: Expression, trusted: Trust | undefined): boolean {
  switch (expression.kind) {
    case "literal":
      return true;
    case "path":
      return trusted?.(expression.root) === true;
    case "filter":
      return isOwnText(expression.input, trusted) && expression.args.every((arg) => isOwnText(arg, trusted));
    case "unary":
      return isOwnText(expression.operand, trusted);
    case "binary":
      return isOwnText(expression.left, trusted) && isOwnText(expression.right, trusted);
  }
}

function judge(hole: Hole, filter: string | undefined): Omit<ShellWarning, "offset"> | undefined {
  if (hole.quoting === "comment") return undefined;
  if (hole.arithmetic) {
    return { rule: "arithmetic", message: "a value in shell arithmetic must be an integer" };
  }
  if (filter !== undefined) {
    const message = `${filter} reads the value as part of its program: pass it as an argument of its own (--arg)`;
    return { rule: "inner-program", message };
  }
  if (hole.expansion) {
    return {
      rule: "expansion",
      message: "in ${…} the value may act as a pattern; put it into a variable first",
    };
  }
  return undefined;
}
