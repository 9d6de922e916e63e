import { OperationError } from "./template-error.ts";
import { toText } from "./values.ts";

export type BinaryOperator =
  | "or"
  | "and"
  | "=="
  | "!="
  | "<"
  | "<="
  | ">"
  | ">="
  | "in"
  | "concat"
  | "+"
  | "-"
  | "*"
  | "/"
  | "%";

export type UnaryOperator = "not" | "negate";

/** An operand's value. `isFloat` distinguishes 2.0 from 2, which JavaScript does not: 5 / 2 is 2, 5 / 2.0 is 2.5. */
export interface OperandValue {
  readonly value: unknown;
  readonly isFloat?: boolean;
}

/** An operation that the operands do not allow, before its offset is known. */
class OperatorError extends Error {}

interface Numeric {
  readonly number: number;
  readonly isFloat: boolean;
}

const NUMERIC_TEXT = /^\s*[+-]?\d+(\.\d+)?\s*$/;
/** Significant digits to which a float is rounded, so that 0.1 + 0.2 is 0.3. */
const FLOAT_DIGITS = 15;
/** Longer text is not converted to a number. UTF-16 units. */
const NUMERIC_LENGTH = 64;
/** Maximum length of a concatenation, equal to the maximum output of a step. UTF-16 units. */
const TEXT_MAX = 10 * 1024 * 1024;
/** Maximum length of an operand in an error message. */
const SHOWN_LENGTH = 40;

/** Runs an operation and converts its OperatorError to an OperationError at this offset. */
export function located<Result>(offset: number, operation: () => Result): Result {
  try {
    return operation();
  } catch (error) {
    if (error instanceof OperatorError) throw new OperationError(error.message, offset);
    throw error;
  }
}

/** Whether a value is missing: undefined, null or the empty string. */
export function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

/**
 * False: a missing value, false, 0, an empty list or object, and the texts "", "false" and "0" (params and exports are
 * text).
 */
export function isTrue(value: unknown): boolean {
  if (isMissing(value)) return false;
  if (typeof value === "string") return !/^\s*(?:false|[+-]?0+(?:\.0+)?)\s*$/i.test(value);
  if (typeof value === "object") return Object.keys(value as object).length > 0;
  return Boolean(value);
}

/** Throws OperatorError. `and` and `or` return true or false, as in the reference; reference 2.6. */
export function applyBinary(operator: BinaryOperator, left: OperandValue, right: OperandValue): OperandValue {
  switch (operator) {
    case "and":
      return { value: isTrue(left.value) && isTrue(right.value) };
    case "or":
      return { value: isTrue(left.value) || isTrue(right.value) };
    case "==":
      return { value: isEqual(left, right) };
    case "!=":
      return { value: !isEqual(left, right) };
    case "<":
      return { value: compare(left, right, operator) < 0 };
    case "<=":
      return { value: compare(left, right, operator) <= 0 };
    case ">":
      return { value: compare(left, right, operator) > 0 };
    case ">=":
      return { value: compare(left, right, operator) >= 0 };
    case "in":
      return { value: isIn(left, right.value) };
    case "concat":
      return concatenate(left.value, right.value);
    case "+":
      return add(left, right);
    default:
      return calculate(operator, toNumber(left, operator), toNumber(right, operator));
  }
}

export function applyUnary(operator: UnaryOperator, operand: OperandValue): OperandValue {
  if (operator === "not") return { value: !isTrue(operand.value) };
  const { number, isFloat } = toNumber(operand, "-");
  return { value: 0 - number, isFloat };
}

/** Adds numbers and numeric text; concatenates other text. */
function add(left: OperandValue, right: OperandValue): OperandValue {
  const [one, other] = [readNumber(left), readNumber(right)];
  if (one !== undefined && other !== undefined) return calculate("+", one, other);
  const isAddition = one !== undefined || other !== undefined;
  if (isAddition && (isMissing(left.value) || isMissing(right.value))) {
    throw new OperatorError('an operand of "+" has no value');
  }
  return concatenate(left.value, right.value);
}

function concatenate(left: unknown, right: unknown): OperandValue {
  const value = toText(left) + toText(right);
  if (value.length > TEXT_MAX)
    throw new OperatorError(`the result of "+" is longer than ${TEXT_MAX} characters`);
  return { value };
}

function calculate(operator: "+" | "-" | "*" | "/" | "%", left: Numeric, right: Numeric): OperandValue {
  const isFloat = left.isFloat || right.isFloat;
  if ((operator === "/" || operator === "%") && right.number === 0) {
    throw new OperatorError("division by zero");
  }
  const result = calculateNumber(operator, left.number, right.number);
  if (isFloat) {
    if (!Number.isFinite(result)) throw new OperatorError(`the result of "${operator}" is too large`);
    return { value: Number(result.toPrecision(FLOAT_DIGITS)), isFloat };
  }
  // Integer division truncates towards zero, as in Go. Adding 0 turns -0 into 0.
  const whole = Math.trunc(result) + 0;
  if (!Number.isSafeInteger(whole)) {
    throw new OperatorError(
      `the result of "${operator}" is not between -${Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`,
    );
  }
  return { value: whole };
}

function calculateNumber(operator: "+" | "-" | "*" | "/" | "%", left: number, right: number): number {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return left / right;
    case "%":
      return left % right;
  }
}

/**
 * The number that a value or its text contains; undefined for other values. Throws OperatorError if an integer is too
 * large.
 */
function readNumber({ value, isFloat }: OperandValue): Numeric | undefined {
  if (typeof value === "number") return { number: value, isFloat: isFloat ?? !Number.isInteger(value) };
  if (typeof value !== "string" || value.length > NUMERIC_LENGTH) return undefined;
  const found = NUMERIC_TEXT.exec(value);
  if (found === null) return undefined;
  const number = Number(value);
  if (found[1] === undefined && !Number.isSafeInteger(number)) {
    throw new OperatorError(`${shown(value)} is too large for arithmetic`);
  }
  return { number, isFloat: found[1] !== undefined };
}

function toNumber(operand: OperandValue, operator: string): Numeric {
  const numeric = readNumber(operand);
  if (numeric !== undefined) return numeric;
  if (isMissing(operand.value)) throw new OperatorError(`an operand of "${operator}" has no value`);
  throw new OperatorError(`${shown(operand.value)} is not a number, which "${operator}" needs`);
}

const shown = (value: unknown): string => JSON.stringify(toText(value).slice(0, SHOWN_LENGTH));

/** Compares two texts as text ("1.10" is not "1.1"), a number and numeric text as numbers. */
function isEqual(left: OperandValue, right: OperandValue): boolean {
  if (isMissing(left.value) || isMissing(right.value)) {
    return isMissing(left.value) && isMissing(right.value);
  }
  if (typeof left.value === "number" || typeof right.value === "number") {
    const [one, other] = [readNumber(left), readNumber(right)];
    if (one !== undefined && other !== undefined) return one.number === other.number;
  }
  return toText(left.value) === toText(right.value);
}

/**
 * Negative, 0 or positive; NaN if either value is missing. Numbers and numeric text compare by value, other text by
 * code units.
 */
function compare(left: OperandValue, right: OperandValue, operator: string): number {
  if (isMissing(left.value) || isMissing(right.value)) return Number.NaN;
  const [one, other] = [readNumber(left), readNumber(right)];
  const areTexts = typeof left.value === "string" && typeof right.value === "string";
  if (areTexts && one === undefined && other === undefined) {
    return left.value === right.value ? 0 : (left.value as string) < (right.value as string) ? -1 : 1;
  }
  return toNumber(left, operator).number - toNumber(right, operator).number;
}

function isIn(left: OperandValue, container: unknown): boolean {
  if (Array.isArray(container)) return container.some((value) => isEqual(left, { value }));
  if (typeof container === "object" && container !== null) {
    return Object.hasOwn(container, toText(left.value));
  }
  return !isMissing(container) && toText(container).includes(toText(left.value));
}
