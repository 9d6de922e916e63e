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

/** A tree of what stands between `{{` and `}}`. Offsets are in UTF-16 units of the template's text. */
export type Expression =
  | {
      readonly kind: "literal";
      readonly value: string | number | boolean | null;
      /** Written with a decimal point. */
      readonly isFloat?: boolean;
    }
  | {
      /** A name with the keys that lead on from it. */
      readonly kind: "path";
      readonly root: string;
      readonly path: readonly string[];
      /** What `a-b` means where nothing has that name. */
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
/** Names and numbers in one difference without spaces, at most. */
const DIFFERENCE_MAX = 16;
/** Filters whose value is text, which "+" concatenates even where it is a number. */
const TEXT_FILTERS: ReadonlySet<FilterName> = new Set(["upper", "lower", "replace", "join", "json", "shell"]);
/** Operators that take nothing but numbers. */
const ARITHMETIC: ReadonlySet<BinaryOperator> = new Set(["-", "*", "/", "%"]);

/** Throws TemplateError for an operation on literals that fails; others on literals are done at once. */
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
    // Any number will do for the operand that is not known yet: it shows whether the literal one is allowed.
    const any = { value: 1 };
    const [one, other] = [left, right].map((side) => (side.kind === "literal" ? side : any));
    located(offset, () => applyBinary(operator, one ?? any, other ?? any));
  }
  return { kind: "binary", operator, left, right, offset };
}

/** Whether the value of an expression is text, whatever it is of. */
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

/** `a-b-1` is one name; where nothing has it, it is a difference: of names and whole numbers. */
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

/** `| raw` in a part of an expression would have no effect on the whole. */
function refusePart(operand: Expression, offset: number): void {
  if (operand.kind === "filter" && operand.name === "raw") {
    throw new TemplateError("| raw applies to a whole expression: write {{ (a + b) | raw }}", offset);
  }
}
