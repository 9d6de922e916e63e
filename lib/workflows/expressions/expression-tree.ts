import type { FilterName } from "./filters.ts";
import {
  applyBinary,
  applyUnary,
  type BinaryOperator,
  located,
  type OperandValue,
  type UnaryOperator,
} from "./operators.ts";
import { TemplateError } from "./template-error.ts";

/** The syntax tree of the text between `{{` and `}}`. Offsets are in UTF-16 units of the template's text. */
export type Expression =
  | {
      readonly kind: "literal";
      readonly value: string | number | boolean | null;
      /** Whether the number has a decimal point. */
      readonly isFloat?: boolean;
    }
  | {
      /** A name followed by keys. */
      readonly kind: "path";
      readonly root: string;
      readonly path: readonly string[];
      /** The meaning of `a-b` if no value has that name. */
      readonly difference?: Expression;
    }
  | {
      readonly kind: "filter";
      readonly name: FilterName;
      readonly input: Expression;
      readonly args: readonly Expression[];
      readonly offset: number;
    }
  | {
      readonly kind: "unary";
      readonly operator: UnaryOperator;
      readonly operand: Expression;
      readonly offset: number;
    }
  | {
      readonly kind: "binary";
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
      readonly offset: number;
    };

const WHOLE_OR_NAME = /^(?:\d+|[\p{L}_][\p{L}\p{N}_]*)$/u;
/** Maximum number of names and numbers in a difference without spaces. */
const DIFFERENCE_MAX = 16;
/** Filters that return text; "+" concatenates their result even if it is numeric. */
const TEXT_FILTERS: ReadonlySet<FilterName> = new Set(["upper", "lower", "replace", "join", "json", "shell"]);
/** Operators that accept only numbers. */
const ARITHMETIC: ReadonlySet<BinaryOperator> = new Set(["-", "*", "/", "%"]);

/** Operations on literals are evaluated at parse time. Throws TemplateError if such an operation fails. */
export function unary(operator: UnaryOperator, operand: Expression, offset: number): Expression {
  refusePart(operand, offset);
  if (operand.kind !== "literal") return { kind: "unary", operator, operand, offset };
  return asLiteral(located(offset, () => applyUnary(operator, operand)));
}

export function binary(
  operator: BinaryOperator,
  left: Expression,
  right: Expression,
  offset: number,
): Expression {
  refusePart(left, offset);
  refusePart(right, offset);
  if (left.kind === "literal" && right.kind === "literal") {
    return asLiteral(located(offset, () => applyBinary(operator, left, right)));
  }
  if (ARITHMETIC.has(operator)) {
    // The operand without a value is replaced by a number, to check whether the literal one is allowed.
    const any = { value: 1 };
    const [one, other] = [left, right].map((side) => (side.kind === "literal" ? side : any));
    located(offset, () => applyBinary(operator, one ?? any, other ?? any));
  }
  return { kind: "binary", operator, left, right, offset };
}

/** Whether an expression always evaluates to text. */
export function isText(expression: Expression): boolean {
  switch (expression.kind) {
    case "literal":
      return typeof expression.value === "string";
    case "filter":
      return TEXT_FILTERS.has(expression.name);
    case "binary":
      return expression.operator === "concat";
    default:
      return false;
  }
}

function asLiteral({ value, isFloat }: OperandValue): Expression {
  return {
    kind: "literal",
    value: value as string | number | boolean,
    ...(isFloat === true ? { isFloat } : {}),
  };
}

/** `a-b-1` is one name. If no value has that name, it is a difference of names and whole numbers. */
export function differenceIn(name: string, offset: number): Expression | undefined {
  if (!name.includes("-")) return undefined;
  const parts = name.split("-");
  if (parts.length > DIFFERENCE_MAX || !parts.every((part) => WHOLE_OR_NAME.test(part))) return undefined;
  return parts
    .map(
      (part): Expression =>
        /^\d/.test(part) ? { kind: "literal", value: Number(part) } : { kind: "path", root: part, path: [] },
    )
    .reduce((left, right) => ({ kind: "binary", operator: "-", left, right, offset }));
}

/** Rejects `| raw` in a part of an expression, where it would have no effect on the whole. */
function refusePart(operand: Expression, offset: number): void {
  if (operand.kind === "filter" && operand.name === "raw") {
    throw new TemplateError("| raw applies to a whole expression: write {{ (a + b) | raw }}", offset);
  }
}
