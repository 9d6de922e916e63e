const REPLACEMENT = "***";

/**
 * A value as JSON without what `redact` replaces in its texts, keys and numbers. What is replaced in the JSON text itself could
 * take a quote with it.
 */
export function redactJsonText(value: unknown, redact: (text: string) => string): string {
  const text = JSON.stringify(value);
  return redact(text) === text ? text : JSON.stringify(redactInside(JSON.parse(text), redact));
}

/** The same as a value. */
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
