/** What a message is about, as far as it says. */
export interface MessageSubject {
  readonly eventId?: string;
  readonly runId?: string;
}

/** Reads the event or the run from the body of a message, or from the detail of its envelope. */
export function aboutOf(body: string): MessageSubject {
  const message = objectOf(parsed(body));
  const { event_id: eventId, run_id: runId } = { ...message, ...objectOf(message.detail) };
  return {
    ...(typeof eventId === "string" ? { eventId } : {}),
    ...(typeof runId === "string" ? { runId } : {}),
  };
}

const objectOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
