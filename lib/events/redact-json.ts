const REPLACEMENT = "***";

/**
 * A value as JSON text, with its texts, keys and numbers redacted. Redacting the JSON text itself could remove a quote
 * together with a secret.
 */
export function redactJsonText(value: unknown, redact: (text: string) => string): string {
  const text = JSON.stringify(value);
  return redact(text) === text ? text : JSON.stringify(redactInside(JSON.parse(text), redact));
}

/** Like `redactJsonText`, but returns a value. */
export function redactJson<Value>(value: Value, redact: (text: string) => string): Value {
  return JSON.parse(redactJsonText(value, redact)) as Value;
}

function redactInside(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === "string") return redact(value);
  if (typeof value === "number") return redact(String(value)) === String(value) ? value : REPLACEMENT;
  if (Array.isArray(value)) return value.map((item) => redactInside(item, redact));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [redact(key), redactInside(inner, redact)]),
  );
}
