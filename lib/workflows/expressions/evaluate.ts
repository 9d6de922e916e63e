import type { Expression } from "./expression-tree.ts";
import { FILTERS, type FilterName } from "./filters.ts";
import { applyBinary, applyUnary, isMissing, isTrue, located } from "./operators.ts";
import { readPath, readRoot, type Values } from "./values.ts";

/** A value, and whether all of it is text of the workflow file or belongs to a name that the caller trusts. */
export interface Evaluated {
  readonly value: unknown;
  readonly trusted: boolean;
  readonly isFloat?: boolean;
}

export type Trust = (root: string) => boolean;

/** Filters whose argument replaces a missing value. */
export const FALLBACKS: ReadonlySet<FilterName> = new Set(["default", "default_if_none"]);
const trustNothing: Trust = () => false;

/**
 * Evaluates an expression; undefined if its name has no value. Placeholders inside values are not rendered. Throws
 * TemplateError for an operation that the values do not allow.
 */
export function evaluate(expression: Expression, values: Values, trust: Trust = trustNothing): Evaluated {
  switch (expression.kind) {
    case "literal":
      return { value: expression.value, trusted: true, isFloat: expression.isFloat === true };
    case "path":
      return readName(expression, values, trust);
    case "filter":
      return applyFilter(expression, values, trust);
    case "unary": {
      const operand = evaluate(expression.operand, values, trust);
      const { operator, offset } = expression;
      return { ...located(offset, () => applyUnary(operator, operand)), trusted: operand.trusted };
    }
    case "binary": {
      const { operator, offset } = expression;
      const left = evaluate(expression.left, values, trust);
      if (operator === "and" && !isTrue(left.value)) return { value: false, trusted: left.trusted };
      if (operator === "or" && isTrue(left.value)) return { value: true, trusted: left.trusted };
      const right = evaluate(expression.right, values, trust);
      const result = located(offset, () => applyBinary(operator, left, right));
      return { ...result, trusted: left.trusted && right.trusted };
    }
  }
}

function readName(
  { root, path, difference }: Extract<Expression, { kind: "path" }>,
  values: Values,
  trust: Trust,
): Evaluated {
  const { name, value } = readRoot(values, root);
  if (value === undefined && difference !== undefined && isDefined(difference, values)) {
    return evaluate(difference, values, trust);
  }
  return { value: readPath(value, path), trusted: trust(name) };
}

/** Whether every name in a difference of names and numbers has a value. */
function isDefined(expression: Expression, values: Values): boolean {
  if (expression.kind === "path") return readRoot(values, expression.root).value !== undefined;
  if (expression.kind === "binary") {
    return isDefined(expression.left, values) && isDefined(expression.right, values);
  }
  return true;
}

function applyFilter(
  { name, input, args, offset }: Extract<Expression, { kind: "filter" }>,
  values: Values,
  trust: Trust,
): Evaluated {
  const current = evaluate(input, values, trust);
  const given = args.map((arg) => evaluate(arg, values, trust));
  const [fallback] = given;
  if (FALLBACKS.has(name) && fallback !== undefined) {
    const isAbsent =
      name === "default" ? isMissing(current.value) : (current.value ?? undefined) === undefined;
    return isAbsent ? fallback : current;
  }
  const operands = given.map((arg) => arg.value);
  const value = located(offset, () => FILTERS[name].apply(current.value, operands));
  return { value, trusted: current.trusted && given.every((arg) => arg.trusted) };
}

/** Whether the chain ends with this filter. The last filter decides how the value is inserted. */
export function endsWith(expression: Expression, name: FilterName): boolean {
  return expression.kind === "filter" && expression.name === name;
}

/** Whether the filter chain of the whole expression contains `| raw`. */
export function isRaw(expression: Expression): boolean {
  for (let link = expression; link.kind === "filter"; link = link.input) if (link.name === "raw") return true;
  return false;
}
