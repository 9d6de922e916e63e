import { readPath } from "../templates/values.ts";

const REFERENCE = /^(event_data|event)\.([\w$.-]+)$/;

/**
 * The run parameters that a trigger takes from its event: `event_data.a.b` is a value of the payload,
 * `event.topic` one of the envelope, anything else text. Reference 4.
 */
export function inputParams(
  input: Readonly<Record<string, string>>,
  event: Readonly<Record<string, unknown>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(input).map(([name, expression]) => [name, inputValue(expression, event)]),
  );
}

function inputValue(expression: string, event: Readonly<Record<string, unknown>>): string {
  const reference = REFERENCE.exec(expression.trim());
  if (reference === null) return expression;
  const [, root, path = ""] = reference;
  const value = readPath(root === "event_data" ? event["data"] : event, path.split("."));
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
