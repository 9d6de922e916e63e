import { endsWith, isRaw, type Trust } from "./evaluate.ts";
import { isReference, type Reference, type TemplateSource, toTemplate } from "./parse.ts";
import type { Hole } from "./shell-context.ts";
import { lexShell } from "./shell-lexer.ts";
import { withHoles } from "./shell-source.ts";

export interface ShellWarning {
  readonly rule: "raw" | "inner-program" | "arithmetic" | "expansion" | "quoted-heredoc";
  readonly message: string;
  /** Where the value stands in the template's text, in UTF-16 units. */
  readonly offset: number;
}

/**
 * Warns of places in a bash command where a value would be read as more than data by something that the
 * renderer cannot see into, or would be refused. Values of trusted names and literals are no cause.
 * Throws TemplateError where the template cannot be parsed.
 */
export function lintShell(
  source: TemplateSource,
  options: { readonly trusted?: Trust } = {},
): readonly ShellWarning[] {
  const template = toTemplate(source);
  const warnings: ShellWarning[] = [];
  for (const part of template.parts) {
    if (!isReference(part) || !isRaw(part.expression)) continue;
    const message = "| raw makes the value part of the command's syntax";
    warnings.push({ rule: "raw", message, offset: part.offset });
  }
  const { source: text, references } = withHoles(template, (reference) =>
    isText(reference, options.trusted) ? "text" : undefined,
  );
  for (const [position, hole] of lexShell(text).entries()) {
    const reference = references[position];
    const warning = reference === undefined ? undefined : judge(hole, reference);
    if (warning !== undefined && reference !== undefined) {
      warnings.push({ ...warning, offset: reference.offset });
    }
  }
  return warnings.sort((one, other) => one.offset - other.offset);
}

function isText({ expression }: Reference, trusted: Trust | undefined): boolean {
  if (isRaw(expression)) return true;
  const { operand } = expression;
  return operand.kind === "literal" || trusted?.(operand.root) === true;
}

function judge(hole: Hole, reference: Reference): Omit<ShellWarning, "offset"> | undefined {
  if (hole.quoting === "comment") return undefined;
  if (hole.quoting === "quoted-heredoc") {
    return {
      rule: "quoted-heredoc",
      message: "a value in a quoted here-document is an error; write <<EOF instead of <<'EOF'",
    };
  }
  if (hole.arithmetic) {
    return { rule: "arithmetic", message: "only an integer can stand where the shell calculates" };
  }
  if (hole.program !== undefined && !endsWith(reference.expression, "shell")) {
    const advice = "pass it as an argument or variable of its own, or write | shell where a shell reads it";
    return {
      rule: "inner-program",
      message: `${hole.program} reads the value as part of a program; ${advice}`,
    };
  }
  if (hole.expansion) {
    return {
      rule: "expansion",
      message: "in ${…} the value may act as a pattern; put it into a variable first",
    };
  }
  return undefined;
}
