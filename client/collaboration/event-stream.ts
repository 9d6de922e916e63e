/** A server-sent event. */
export interface StreamEvent {
  readonly name: string;
  readonly id: string | undefined;
  readonly data: string;
}

/** Reads server-sent events from a response; undefined for a comment. HTML Living Standard 9.2. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent | undefined> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let parts: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const text = decoder.decode(value, { stream: true });
      parts.push(text);
      // The end of an event may be split between two chunks.
      if (!text.includes("\n")) continue;
      const blocks = parts.join("").split("\n\n");
      parts = [blocks.pop() ?? ""];
      for (const block of blocks) yield parseEvent(block);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function parseEvent(block: string): StreamEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).trimStart());
  }
  const name = fields.get("event");
  return name === undefined ? undefined : { name, id: fields.get("id"), data: fields.get("data") ?? "null" };
}
