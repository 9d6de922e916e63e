/** Longer code is not plain: the time to evaluate it must be negligible. */
const CODE_CHARS_MAX = 200;

const TOKEN =
  /\s+|\d+(?:\.\d+)?(?![\w$.])|"(?:[^"\\\n\r]|\\[^\n\r])*"|'(?:[^'\\\n\r]|\\[^\n\r])*'|[A-Za-z_$][\w$]*|[=!]==?|[<>]=|&&|\|\||\?\?|\?\.|[.,()[\]?:+\-*/%<>!&|^~]/y;

const VALUES: ReadonlySet<string> = new Set(["true", "false", "null", "undefined", "NaN", "Infinity"]);
/** Words with a meaning of their own: they are not accepted even if a variable has this name. */
const RESERVED: ReadonlySet<string> = new Set(
  (
    "arguments async await break case catch class const continue debugger default delete do else enum eval export " +
    "extends finally for function get if import in instanceof interface let new of package private protected public " +
    "return set static super switch target this throw try typeof var void while with yield"
  ).split(" "),
);

/** What the token before the current one was. */
type Before = "operand" | "operator" | "dot";

/**
 * Whether code is one expression of literals, variables, properties and operators. It cannot call, assign, define, loop
 * or recurse, so it ends after a few steps, and leaves nothing behind in its VM. `variables` are its variables by name.
 * False for some code that is such an expression: the common ones count.
 */
export function isPlainExpression(code: string, variables: Readonly<Record<string, unknown>>): boolean {
  if (code.length > CODE_CHARS_MAX) return false;
  let before: Before = "operator";
  let last = "";
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < code.length) {
    const token = TOKEN.exec(code)?.[0];
    if (token === undefined) return false;
    // `++`, `--` and the comments `<!--` and `-->`, whose parts may not follow each other directly.
    if ((token === "+" || token === "-") && token === last) return false;
    last = token;
    if (token.trim() === "") continue;
    const after = next(token, before, variables);
    if (after === undefined) return false;
    before = after;
  }
  return before === "operand";
}

/** What the token is to the next one; undefined if it may not stand here. */
function next(
  token: string,
  before: Before,
  variables: Readonly<Record<string, unknown>>,
): Before | undefined {
  const isAfterOperand = before === "operand";
  if (/^[A-Za-z_$]/.test(token)) {
    if (before === "dot") return "operand";
    if (token === "typeof" || token === "void") return isAfterOperand ? undefined : "operator";
    if (token === "in") return isAfterOperand ? "operator" : undefined;
    const isKnown = VALUES.has(token) || (Object.hasOwn(variables, token) && !RESERVED.has(token));
    return isKnown && !isAfterOperand ? "operand" : undefined;
  }
  if (before === "dot") return undefined;
  if (/^["'\d]/.test(token)) return isAfterOperand ? undefined : "operand";
  switch (token) {
    case "(":
      // After an operand it is a call.
      return isAfterOperand ? undefined : "operator";
    case "[":
    case "+":
    case "-":
      return "operator";
    case "!":
    case "~":
      return isAfterOperand ? undefined : "operator";
    case ")":
    case "]":
      return isAfterOperand ? "operand" : undefined;
    case ".":
    case "?.":
      return isAfterOperand ? "dot" : undefined;
    default:
      return isAfterOperand ? "operator" : undefined;
  }
}
