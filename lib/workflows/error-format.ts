import type * as z from "zod";
import { ApiError } from "../errors.ts";
import type { ErrorFormat, ValidationIssue } from "../http/service.ts";

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
const NAMES_SHOWN_MAX = 20;

/** The error format of the workflow service. Seed: workflow 2.1. */
export const workflowErrorFormat: ErrorFormat = {
  issueMessage,
  missingCredentials: "Missing authorization header",
  errorBody: ({ message }) => ({ error: true, message }),
  errorSchema: {
    name: "AutomationError",
    schema: {
      type: "object",
      properties: { error: { type: "boolean", const: true }, message: { type: "string" } },
      required: ["error", "message"],
    },
  },
  validationError: (issues) => new ApiError("bad_request", issues.map(issueText).join("; ")),
  unsupportedMediaTypeError: (contentType) =>
    new ApiError("bad_request", `content-type: must be application/json, not ${contentType}`),
};

function issueText({ part, path, message }: ValidationIssue): string {
  const fullPath = part === "body" ? path : [part, ...path];
  return fullPath.length > 0 ? `${fullPath.join(".")}: ${message}` : message;
}

/** Needs no knowledge of the schemas. */
function issueMessage(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is required" : `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case "invalid_value": {
      const values = issue.values.slice(0, NAMES_SHOWN_MAX).map(String);
      return values.length === 1 ? `must be ${values[0]}` : `must be one of: ${values.join(", ")}`;
    }
    case "too_big":
      return `must ${boundMessage(issue.origin, "at most", issue.maximum)}`;
    case "too_small":
      return `must ${boundMessage(issue.origin, "at least", issue.minimum)}`;
    case "unrecognized_keys":
      return `has unknown fields: ${issue.keys.slice(0, NAMES_SHOWN_MAX).join(", ")}`;
    default:
      return undefined;
  }
}

function boundMessage(origin: string, comparison: string, limit: number | bigint): string {
  if (origin === "string") return `have ${comparison} ${limit} characters`;
  if (origin === "array" || origin === "set")
    return `have ${comparison} ${limit} ${Number(limit) === 1 ? "entry" : "entries"}`;
  return `be ${comparison} ${limit}`;
}
