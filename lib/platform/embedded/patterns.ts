import type { EventPattern, PatternTest } from "../bus.ts";

type Fields = Readonly<Record<string, unknown>>;
type Test = (value: unknown) => boolean;
type Matcher = (event: Fields) => boolean;

/** A pattern that EventBridge would reject; the message names the field. */
export class InvalidPatternError extends Error {
  constructor(path: string, why: string) {
    super(`event pattern, field "${path}": ${why}`);
    this.name = "InvalidPatternError";
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Parts between the stars; a backslash escapes the star or backslash after it. */
function wildcardParts(pattern: string, path: string): string[] {
  const parts = [""];
  let afterStar = false;
  for (let at = 0; at < pattern.length; at += 1) {
    let character = pattern.charAt(at);
    if (character === "*") {
      if (afterStar) throw new InvalidPatternError(path, "a wildcard cannot contain consecutive asterisks");
      parts.push("");
      afterStar = true;
      continue;
    }
    if (character === "\\") {
      at += 1;
      character = pattern.charAt(at);
      if (character !== "*" && character !== "\\")
        throw new InvalidPatternError(path, "a wildcard contains an invalid escape");
    }
    afterStar = false;
    parts.push(parts.pop() + character);
  }
  return parts;
}

/**
 * Matches each part at its first position after the previous part: needs no backtracking, because a star matches any
 * text.
 */
function wildcard(pattern: string, path: string): Test {
  const parts = wildcardParts(pattern, path);
  const first = parts[0] ?? "";
  const last = parts.at(-1) ?? "";
  const middle = parts.slice(1, -1);
  return (value) => {
    if (typeof value !== "string") return false;
    if (parts.length === 1) return value === first;
    if (!value.startsWith(first)) return false;
    let at = first.length;
    for (const part of middle) {
      const found = value.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return value.length - last.length >= at && value.endsWith(last);
  };
}

const COMPARISONS: Readonly<Record<string, (value: number, bound: number) => boolean>> = {
  "=": (value, bound) => value === bound,
  "<": (value, bound) => value < bound,
  "<=": (value, bound) => value <= bound,
  ">": (value, bound) => value > bound,
  ">=": (value, bound) => value >= bound,
};

function numeric(parts: readonly (string | number)[], path: string): Test {
  if (parts.length !== 2 && parts.length !== 4)
    throw new InvalidPatternError(path, "numeric requires one or two comparisons");
  const tests: ((value: number) => boolean)[] = [];
  for (let at = 0; at < parts.length; at += 2) {
    const compare = Object.hasOwn(COMPARISONS, String(parts[at]))
      ? COMPARISONS[String(parts[at])]
      : undefined;
    const bound = parts[at + 1];
    if (compare === undefined || typeof bound !== "number")
      throw new InvalidPatternError(path, "numeric is malformed");
    tests.push((value) => compare(value, bound));
  }
  return (value) => typeof value === "number" && tests.every((test) => test(value));
}

function text(operand: unknown, path: string, test: (value: string, operand: string) => boolean): Test {
  if (typeof operand !== "string") throw new InvalidPatternError(path, "the operator requires a string");
  return (value) => typeof value === "string" && test(value, operand);
}

/** Undefined represents `exists: false`, which tests for the absence of the field, not for a value. */
function compileTest(test: PatternTest, path: string): Test | undefined {
  if (!isObject(test)) {
    if (test !== null && !["string", "number", "boolean"].includes(typeof test)) {
      throw new InvalidPatternError(path, "a test is a value or an operator");
    }
    return (value) => value === test;
  }
  const [entry, ...more] = Object.entries(test);
  if (entry === undefined || more.length > 0)
    throw new InvalidPatternError(path, "a test has exactly one operator");
  const [operator, operand]: [string, unknown] = entry;
  switch (operator) {
    case "prefix":
      return text(operand, path, (value, start) => value.startsWith(start));
    case "suffix":
      return text(operand, path, (value, end) => value.endsWith(end));
    case "equals-ignore-case":
      return text(operand, path, (value, other) => value.toLowerCase() === other.toLowerCase());
    case "wildcard":
      if (typeof operand !== "string") throw new InvalidPatternError(path, "the operator requires a string");
      return wildcard(operand, path);
    case "numeric":
      if (!Array.isArray(operand)) throw new InvalidPatternError(path, "numeric requires a list");
      return numeric(operand, path);
    case "anything-but": {
      const others: unknown[] = Array.isArray(operand) ? operand : [operand];
      if (
        others.length === 0 ||
        others.some((other) => typeof other !== "string" && typeof other !== "number")
      ) {
        throw new InvalidPatternError(path, "anything-but requires strings or numbers");
      }
      return (value) => !others.includes(value);
    }
    case "exists":
      if (typeof operand !== "boolean") throw new InvalidPatternError(path, "exists requires true or false");
      return operand ? () => true : undefined;
    default:
      throw new InvalidPatternError(path, `unknown operator "${operator}"`);
  }
}

/** The values of a field: the members of a list at any depth, or the value itself. */
function valuesOf(value: unknown): unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value.flatMap(valuesOf) : [value];
}

function compileLeaf(tests: readonly PatternTest[], path: string): Test {
  if (tests.length === 0) throw new InvalidPatternError(path, "the list of tests is empty");
  const compiled = tests.map((test) => compileTest(test, path));
  const present = compiled.filter((test) => test !== undefined);
  const absent = present.length < compiled.length;
  return (value) => {
    const values =
      Array.isArray(value) || isObject(value) ? valuesOf(value).filter((one) => !isObject(one)) : [value];
    if (values.length === 0 || value === undefined) return absent;
    return values.some((one) => present.some((test) => test(one)));
  };
}

function compileFields(pattern: EventPattern, path: string): Matcher {
  const fields = Object.entries(pattern).map(([name, inner]): [string, Test] => {
    const at = path === "" ? name : `${path}.${name}`;
    if (Array.isArray(inner)) return [name, compileLeaf(inner, at)];
    if (!isObject(inner)) throw new InvalidPatternError(at, "a field requires a list of tests or a pattern");
    const matches = compileFields(inner as EventPattern, at);
    return [
      name,
      (value) => {
        const objects = valuesOf(value).filter(isObject);
        // Without the object all its fields are absent, which `exists: false` matches.
        return objects.length === 0 ? matches({}) : objects.some(matches);
      },
    ];
  });
  if (fields.length === 0) throw new InvalidPatternError(path, "the pattern is empty");
  return (event) =>
    fields.every(([name, test]) => test(Object.hasOwn(event, name) ? event[name] : undefined));
}

/**
 * Compiles a pattern with EventBridge's semantics: all fields must match, a field matches if any of its tests does, and
 * a list in the event matches if any of its members does. Runs in linear time. Throws InvalidPatternError.
 */
export function compilePattern(pattern: EventPattern): (event: Fields) => boolean {
  return compileFields(pattern, "");
}
