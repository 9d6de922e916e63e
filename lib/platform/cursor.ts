/** The cursor was not issued for this query. */
export class InvalidCursorError extends Error {
  readonly code = "cursor_invalid";
  constructor() {
    super("the cursor is not of this query");
    this.name = "InvalidCursorError";
  }
}

/** The cursor contains its scope (table, index, partition, direction), so that other queries reject it. */
export function encodeCursor(scope: readonly string[], position: readonly string[]): string {
  return Buffer.from(JSON.stringify([scope, position])).toString("base64url");
}

/** The position in the cursor. Throws InvalidCursorError if the cursor is malformed or belongs to another query. */
export function decodeCursor(cursor: string, scope: readonly string[], parts: number): string[] {
  let content: unknown;
  try {
    content = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    throw new InvalidCursorError();
  }
  if (!Array.isArray(content) || content.length !== 2) throw new InvalidCursorError();
  const [of, position]: unknown[] = content;
  if (!Array.isArray(of) || of.length !== scope.length || of.some((part, index) => part !== scope[index])) {
    throw new InvalidCursorError();
  }
  if (!Array.isArray(position) || position.length !== parts) throw new InvalidCursorError();
  return position.map((part: unknown) => {
    if (typeof part !== "string" || part === "") throw new InvalidCursorError();
    return part;
  });
}
