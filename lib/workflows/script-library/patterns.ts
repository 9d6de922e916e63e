import { RE2JS } from "re2js";
import { textOf } from "./argument-values.ts";

/** Longer patterns are refused. In UTF-16 units. */
const PATTERN_LIMIT_CHARS = 10_000;

/**
 * Says whether the pattern (RE2: no look-around, no back-references) matches somewhere in a text. Matching takes
 * linear time. Throws what is wrong with the pattern.
 */
export function toMatcher(pattern: unknown): (text: string) => boolean {
  const compiled = compilePattern(pattern);
  return (text) => compiled.matcher(text).find();
}

/** Throws what is wrong with the pattern. */
export function compilePattern(pattern: unknown, flags = 0): RE2JS {
  const source = textOf(pattern);
  if (source.length > PATTERN_LIMIT_CHARS)
    throw new Error(`a pattern has at most ${PATTERN_LIMIT_CHARS} characters`);
  return RE2JS.compile(source, flags);
}
