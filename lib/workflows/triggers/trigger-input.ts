import { parseTemplate } from "../expressions/parse.ts";
import { renderText } from "../expressions/render-text.ts";
import { readPath } from "../expressions/values.ts";

const REFERENCE = /^(event_data|event)\.([\w$.-]+)$/;
/** A call, or a chain of names that ends in one: `trim(event_data.url)`, `event.topic.toUpperCase()`. */
const CALL = /^[A-Za-z_$][\w$.]*\s*\([\s\S]*\)$/;

/** Evaluates a script over an event. Rejects if the script fails. */
export type EvaluateInput = (source: string, values: EventValues) => Promise<unknown>;

/** The event's values for expressions of a trigger. */
export interface EventValues extends Readonly<Record<string, unknown>> {
  readonly event: Readonly<Record<string, unknown>>;
}

/**
 * Returns the run parameters that a trigger takes from its event: `event_data.a.b` is a value of the payload,
 * `event.topic` one of the envelope, a call such as `trim(event_data.a)` is a script, text with `{{event.…}}` is
 * rendered, any other text is literal. `failed` is called for a value that cannot be computed, which is then empty.
 * Reference 4.
 */
export async function inputParams(
  input: Readonly<Record<string, string>>,
  values: EventValues,
  evaluate: EvaluateInput,
  failed: (name: string, error: unknown) => void,
): Promise<Record<string, string>> {
  const params: Record<string, string> = {};
  for (const [name, expression] of Object.entries(input)) {
    try {
      params[name] = textOf(await inputValue(expression, values, evaluate));
    } catch (error) {
      failed(name, error);
      params[name] = "";
    }
  }
  return params;
}

async function inputValue(
  expression: string,
  values: EventValues,
  evaluate: EvaluateInput,
): Promise<unknown> {
  const trimmed = expression.trim();
  const reference = REFERENCE.exec(trimmed);
  if (reference !== null) {
    const [, root, path = ""] = reference;
    return readPath(root === "event_data" ? values.event["data"] : values.event, path.split("."));
  }
  if (CALL.test(trimmed)) return evaluate(trimmed, values);
  return expression.includes("{{") ? renderText(parseTemplate(expression), values) : expression;
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
