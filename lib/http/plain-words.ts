import type * as z from "zod";

const TYPES: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
  null: "null",
};
const SHOWN_MAX = 20;

type Issue = z.core.$ZodRawIssue;

/** What is wrong with a value of a request, in words that need no knowledge of our schemas. */
export function plainWords(issue: Issue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is required" : `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case "invalid_value": {
      const values = issue.values.slice(0, SHOWN_MAX).map(String);
      return values.length === 1 ? `must be ${values[0]}` : `must be one of: ${values.join(", ")}`;
    }
    case "too_big":
      return `must ${bound(issue.origin, "at most", issue.maximum)}`;
    case "too_small":
      return `must ${bound(issue.origin, "at least", issue.minimum)}`;
    case "unrecognized_keys":
      return `has unknown fields: ${issue.keys.slice(0, SHOWN_MAX).join(", ")}`;
    default:
      return undefined;
  }
}

function bound(origin: string, how: string, limit: number | bigint): string {
  if (origin === "string") return `have ${how} ${limit} characters`;
  if (origin === "array" || origin === "set")
    return `have ${how} ${limit} ${Number(limit) === 1 ? "entry" : "entries"}`;
  return `be ${how} ${limit}`;
}
