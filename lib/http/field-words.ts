import type * as z from "zod";

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
const SHOWN_MAX = 100;

type Issue = z.core.$ZodRawIssue;

/** What is wrong with a field, in the words that clients of the documents know. Reference 1.0. */
export function fieldWords(issue: Issue): string | undefined {
  const { input } = issue;
  switch (issue.code) {
    case "invalid_type":
      if (input === undefined) return "This field is required.";
      if (input === null) return "This field may not be null.";
      return TYPES[issue.expected] ?? `Invalid data. Expected a dictionary, but got ${nameOf(input)}.`;
    case "invalid_value":
      if (input === undefined) return "This field is required.";
      if (input === null) return "This field may not be null.";
      return `"${String(input).slice(0, SHOWN_MAX)}" is not a valid choice.`;
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

const nameOf = (value: unknown): string => (Array.isArray(value) ? "list" : typeof value);

/** The body of a 400: each field and what is wrong with it; of no field, what is wrong with all. Reference 1.0. */
export function fieldErrors(
  faults: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
): Record<string, string[]> {
  const errors: Record<string, string[]> = {};
  for (const { path, message } of faults) {
    const field = path.length === 0 ? "non_field_errors" : String(path[0]);
    errors[field] = [...(errors[field] ?? []), message];
  }
  return errors;
}
