/** Maximum characters of an excerpt. */
const EXCERPT_MAX = 300;
/** Maximum users that a comment mentions; more are ignored. */
const MENTIONS_MAX = 50;
/** Maximum values of a body that are read: 64 KiB have fewer that contain text. */
const VALUES_MAX = 20_000;

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What a comment says, and whom it mentions. */
export interface CommentText {
  /** The beginning of the text, on one line; empty if there is none. */
  readonly excerpt: string;
  /** Ids of the mentioned users, in lower case, each once. */
  readonly mentions: readonly string[];
}

/**
 * Reads the body of a comment, JSON text: plain text, or blocks of an editor, whose texts are the strings in `text` and
 * in `content`. A mention is inline content `{"type": "mention", "props": {"user": <id>}}`; the name that it shows, in
 * `props.name`, is part of the text.
 */
export function readCommentText(body: string): CommentText {
  const texts: string[] = [];
  const mentions = new Set<string>();
  const values: unknown[] = [JSON.parse(body)];
  for (let read = 0; values.length > 0 && read < VALUES_MAX; read += 1) {
    const value = values.pop();
    if (typeof value === "string") texts.push(value);
    else if (Array.isArray(value)) values.push(...value.toReversed());
    else if (typeof value === "object" && value !== null) {
      const { type, props, text, content, children } = value as Readonly<Record<string, unknown>>;
      if (type === "mention" && typeof props === "object" && props !== null) {
        const { user, name } = props as Readonly<Record<string, unknown>>;
        if (typeof user === "string" && ID.test(user) && mentions.size < MENTIONS_MAX)
          mentions.add(user.toLowerCase());
        if (typeof name === "string") texts.push(`@${name}`);
      } else if (typeof text === "string") texts.push(text);
      // Blocks and paragraphs are apart from what follows them.
      if (children !== undefined) values.push(children);
      if (content !== undefined) values.push(" ", content);
    }
  }
  return { excerpt: shorten(texts.join("")), mentions: [...mentions] };
}

/** The beginning of a text, on one line. */
export function shorten(text: string): string {
  // A character may be two units.
  const line = text
    .slice(0, EXCERPT_MAX * 4)
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  const letters = [...line];
  return letters.length > EXCERPT_MAX ? `${letters.slice(0, EXCERPT_MAX).join("")}…` : line;
}
