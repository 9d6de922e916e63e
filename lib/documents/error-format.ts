import type * as z from "zod";
import { ApiError } from "../errors.ts";
import type { ErrorFormat, ValidationIssue } from "../http/service.ts";

const TYPES: Readonly<Record<string, string>> = {
  string: "Not a valid string.",
  number: "A valid number is required.",
  int: "A valid integer is required.",
  boolean: "Must be a valid boolean.",
  array: "Expected a list of items.",
};
const FORMATS: Readonly<Record<string, string>> = {
  uuid: "Must be a valid UUID.",
  email: "Enter a valid email address.",
  url: "Enter a valid URL.",
};
const VALUE_SHOWN_MAX = 100;

/** The error format of the document service: that of Django REST Framework. Reference: documents 1.0. */
export const documentErrorFormat: ErrorFormat = {
  issueMessage,
  missingCredentials: "Authentication credentials were not provided.",
  errorBody: ({ message }) => ({ detail: message }),
  errorSchema: {
    name: "DocumentsError",
    schema: { type: "object", properties: { detail: { type: "string" } }, required: ["detail"] },
  },
  validationError: (issues) =>
    new ApiError("bad_request", "The request is invalid.", { body: fieldErrors(issues) }),
  // A malformed id returns 404, not 400.
  invalidPathError: () => new ApiError("not_found", "Not found."),
  unsupportedMediaTypeError: (contentType) =>
    new ApiError("unsupported_media_type", `Unsupported media type "${contentType}" in request.`),
  jsonErrorMessage: (message) => `JSON parse error - ${message.replace("body: ", "the body ")}`,
};

function issueMessage(issue: z.core.$ZodRawIssue): string | undefined {
  const { input } = issue;
  switch (issue.code) {
    case "invalid_type":
      if (input === undefined) return "This field is required.";
      if (input === null) return "This field may not be null.";
      return TYPES[issue.expected] ?? `Invalid data. Expected a dictionary, but got ${typeName(input)}.`;
    case "invalid_value":
      if (input === undefined) return "This field is required.";
      if (input === null) return "This field may not be null.";
      return `"${String(input).slice(0, VALUE_SHOWN_MAX)}" is not a valid choice.`;
    case "invalid_format":
      return FORMATS[issue.format];
    case "too_big":
      return issue.origin === "string"
        ? `Ensure this field has no more than ${issue.maximum} characters.`
        : `Ensure this value is less than or equal to ${issue.maximum}.`;
    case "too_small":
      if (issue.origin !== "string") return `Ensure this value is greater than or equal to ${issue.minimum}.`;
      if (input === "") return "This field may not be blank.";
      return `Ensure this field has at least ${issue.minimum} characters.`;
    default:
      return undefined;
  }
}

const typeName = (value: unknown): string => (Array.isArray(value) ? "list" : typeof value);

/** The messages of each field; those of the whole request are under `non_field_errors`. */
function fieldErrors(issues: readonly ValidationIssue[]): Record<string, string[]> {
  const errors: Record<string, string[]> = {};
  for (const { path, message } of issues) {
    const field = path.length === 0 ? "non_field_errors" : String(path[0]);
    errors[field] = [...(errors[field] ?? []), message];
  }
  return errors;
}
