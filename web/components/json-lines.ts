/** Longest text of a value that is shown in one line; the rest of it opens below, characters. */
const INLINE_MAX_LENGTH = 200;
/** Characters in each line of a long text. */
const CHUNK_LENGTH = 160;
/** Values of an object or array that are shown without being opened. */
const OPEN_SIZE_MAX = 100;
const OPEN_DEPTH_MAX = 2;

/** A line of JSON as it is shown. */
export interface JsonLine {
  /** Unique among the lines. */
  readonly id: string;
  /** What opens or closes; equal to the id of the line that does it. */
  readonly depth: number;
  /** JSON text of the key; undefined in an array and for the outermost value. */
  readonly key?: string;
  readonly text: string;
  readonly kind: "string" | "number" | "word" | "bracket";
  /** Undefined if there is nothing to open. */
  readonly isOpen?: boolean;
  /** Number of values or characters that a closed line hides. */
  readonly hidden?: number;
}

/** Characters that change how others are shown, or that are not shown. JSON may contain them unescaped. */
const UNSEEN = /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

const escapeCharacter = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** A JSON text in which every character is visible. */
export const visibleJson = (text: string): string => text.replace(UNSEEN, escapeCharacter);

/**
 * The lines of a value. `toggled` has the ids of the lines that are opened or closed other than they are at first: the
 * first levels are open, and what is long is closed.
 */
export function jsonLines(value: unknown, toggled: ReadonlySet<string>): JsonLine[] {
  const lines: JsonLine[] = [];
  addLines(lines, value, { id: "$", depth: 0, key: undefined, isLast: true }, toggled);
  return lines;
}

interface Place {
  readonly id: string;
  readonly depth: number;
  readonly key: string | undefined;
  /** Whether no comma follows. */
  readonly isLast: boolean;
}

function addLines(lines: JsonLine[], value: unknown, place: Place, toggled: ReadonlySet<string>): void {
  const { id, depth, isLast } = place;
  const comma = isLast ? "" : ",";
  const base = {
    id,
    depth,
    ...(place.key === undefined ? {} : { key: visibleJson(JSON.stringify(place.key)) }),
  };
  if (typeof value === "string") {
    addText(lines, value, base, comma, toggled);
    return;
  }
  if (typeof value !== "object" || value === null) {
    lines.push({
      ...base,
      text: `${JSON.stringify(value)}${comma}`,
      kind: typeof value === "number" ? "number" : "word",
    });
    return;
  }
  const [before, after] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  const entries = Array.isArray(value)
    ? value.map((one: unknown): [undefined, unknown] => [undefined, one])
    : Object.entries(value);
  if (entries.length === 0) {
    lines.push({ ...base, text: `${before}${after}${comma}`, kind: "bracket" });
    return;
  }
  const isOpen = (depth < OPEN_DEPTH_MAX && entries.length <= OPEN_SIZE_MAX) !== toggled.has(id);
  if (!isOpen) {
    lines.push({
      ...base,
      text: `${before}…${after}${comma}`,
      kind: "bracket",
      isOpen,
      hidden: entries.length,
    });
    return;
  }
  lines.push({ ...base, text: before, kind: "bracket", isOpen });
  for (const [index, [key, one]] of entries.entries())
    addLines(
      lines,
      one,
      { id: `${id}.${index}`, depth: depth + 1, key, isLast: index === entries.length - 1 },
      toggled,
    );
  lines.push({ id: `${id}.end`, depth, text: `${after}${comma}`, kind: "bracket" });
}

function addText(
  lines: JsonLine[],
  value: string,
  base: Pick<JsonLine, "id" | "depth" | "key">,
  comma: string,
  toggled: ReadonlySet<string>,
): void {
  if (value.length <= INLINE_MAX_LENGTH) {
    lines.push({ ...base, text: `${visibleJson(JSON.stringify(value))}${comma}`, kind: "string" });
    return;
  }
  const isOpen = toggled.has(base.id);
  const start = JSON.stringify(value.slice(0, CHUNK_LENGTH / 2)).slice(0, -1);
  lines.push({
    ...base,
    text: `${visibleJson(start)}…"${comma}`,
    kind: "string",
    isOpen,
    hidden: value.length,
  });
  if (!isOpen) return;
  const whole = JSON.stringify(value);
  for (let from = 0; from < whole.length; ) {
    const to = chunkEnd(whole, from + CHUNK_LENGTH);
    const text = visibleJson(whole.slice(from, to));
    lines.push({ id: `${base.id}.${from}`, depth: base.depth + 1, text, kind: "string" });
    from = to;
  }
}

/** Where a chunk ends that splits no character. */
function chunkEnd(text: string, end: number): number {
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff ? end + 1 : end;
}
