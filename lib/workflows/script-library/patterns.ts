import { RE2JS } from "re2js";
import { textOf } from "./argument-values.ts";

/** Longer patterns are rejected. In UTF-16 units. */
const PATTERN_LIMIT_CHARS = 10_000;

/**
 * Compiles a pattern (RE2: no look-around, no back-references) to a predicate that searches a text in linear time.
 * Throws if the pattern is invalid.
 */
export function toMatcher(pattern: unknown): (text: string) => boolean {
  const compiled = compilePattern(pattern);
  return (text) => compiled.matcher(text).find();
}

/** Throws if the pattern is invalid. */
export function compilePattern(pattern: unknown, flags = 0): RE2JS {
  const source = textOf(pattern);
  if (source.length > PATTERN_LIMIT_CHARS)
    throw new Error(`a pattern has at most ${PATTERN_LIMIT_CHARS} characters`);
  return RE2JS.compile(source, flags);
}
