/** What a text is as the data of an event. */
export interface EventData {
  readonly value?: Readonly<Record<string, unknown>>;
  readonly problem?: { readonly kind: "invalid" | "no_object"; readonly message: string };
}

/** Reads the data of an event: a JSON object; nothing is an empty one. */
export function readEventData(text: string): EventData {
  if (text.trim() === "") return { value: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return { value: value as Readonly<Record<string, unknown>> };
    return { problem: { kind: "no_object", message: "" } };
  } catch (error) {
    return { problem: { kind: "invalid", message: error instanceof Error ? error.message : "" } };
  }
}
