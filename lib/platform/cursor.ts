/** The cursor was not issued for this query. */
export class CursorInvalid extends Error {
  readonly code = "cursor_invalid";
  constructor() {
    super("the cursor does not belong to this query");
    this.name = "CursorInvalid";
  }
}

/** The cursor contains its scope (table, index, partition, direction), so that other queries reject it. */
export function encodeCursor(scope: readonly string[], position: readonly string[]): string {
  return Buffer.from(JSON.stringify([scope, position])).toString("base64url");
}

/** The position in the cursor. Throws CursorInvalid if the cursor is malformed or belongs to another query. */
export function decodeCursor(cursor: string, scope: readonly string[], parts: number): string[] {
  let content: unknown;
  try {
    content = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    throw new CursorInvalid();
  }
  if (!Array.isArray(content) || content.length !== 2) throw new CursorInvalid();
  const [of, position]: unknown[] = content;
  if (!Array.isArray(of) || of.length !== scope.length || of.some((part, index) => part !== scope[index])) {
    throw new CursorInvalid();
  }
  if (!Array.isArray(position) || position.length !== parts) throw new CursorInvalid();
  return position.map((part: unknown) => {
    if (typeof part !== "string" || part === "") throw new CursorInvalid();
    return part;
  });
}
