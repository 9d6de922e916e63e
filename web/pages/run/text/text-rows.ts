import { parseLine, type Span, type TextStyle } from "./ansi.ts";

/** A longer line is shown in several rows: a browser cannot lay out megabytes in one. */
const ROW_MAX_LENGTH = 1_000;
/** Characters that are kept; earlier ones are dropped, and can be loaded again. */
const LENGTH_MAX = 64 * 1024 * 1024;

/** What is drawn as one row. */
export interface TextRow {
  readonly text: string;
  readonly spans: readonly Span[] | undefined;
  /** Whether the line began in a row before. */
  readonly isContinued: boolean;
}

/** A part of a text, as the service returns it. Offsets are bytes. */
export interface TextPart {
  readonly text: string;
  readonly offset: number;
  readonly next_offset: number;
  readonly size: number;
}

/** The rows of a text of which parts are loaded. Each change returns a new object with the same rows. */
export class TextRows {
  readonly rows: readonly TextRow[];
  /** Bytes of the text before and up to the end of the rows. */
  readonly offset: number;
  readonly nextOffset: number;
  readonly size: number;
  /** The last line, if it has no end yet, and how it began. */
  readonly #open: string;
  readonly #style: TextStyle | undefined;
  readonly #length: number;

  private constructor(rows: readonly TextRow[], { offset, nextOffset, size, open, style, length }: State) {
    this.rows = rows;
    this.offset = offset;
    this.nextOffset = nextOffset;
    this.size = size;
    this.#open = open;
    this.#style = style;
    this.#length = length;
  }

  static of(part: TextPart): TextRows {
    const empty = {
      offset: part.offset,
      nextOffset: part.offset,
      size: part.size,
      open: "",
      style: undefined,
      length: 0,
    };
    return new TextRows([], empty).append(part);
  }

  /** Adds the part that follows. A part that begins elsewhere is ignored. */
  append({ text, offset, next_offset, size }: TextPart): TextRows {
    if (offset !== this.nextOffset) return this;
    const lines = (this.#open + text).split("\n");
    // Rows of the open line are made again with what follows it.
    const openRows = this.#open === "" ? 0 : rowsOf(this.#open, this.#style).rows.length;
    const rows = this.rows.slice(0, this.rows.length - openRows);
    let style = this.#style;
    const open = lines.at(-1) ?? "";
    for (const line of lines.slice(0, -1)) {
      const made = rowsOf(line, style);
      for (const row of made.rows) rows.push(row);
      style = made.style;
    }
    if (open !== "") for (const row of rowsOf(open, style).rows) rows.push(row);
    const length = this.#length + text.length;
    const state = { offset: this.offset, nextOffset: next_offset, size, open, style, length };
    return length > LENGTH_MAX ? TextRows.#trimmed(rows, state) : new TextRows(rows, state);
  }

  /** Drops the first half of the rows. */
  static #trimmed(rows: readonly TextRow[], state: State): TextRows {
    const kept = rows.slice(Math.floor(rows.length / 2));
    const length = kept.reduce((sum, { text }) => sum + text.length + 1, 0);
    // Characters may have several bytes, so the earlier text is loaded from a little too late on: none is shown twice.
    return new TextRows(kept, {
      ...state,
      offset: Math.max(state.offset, state.nextOffset - length),
      length,
    });
  }

  /** Adds the part before. Its first line is dropped if it is incomplete. */
  prepend({ text, offset }: TextPart): TextRows {
    const start = offset === 0 ? 0 : text.indexOf("\n") + 1;
    const whole = text.slice(start).replace(/\n$/, "");
    const bytes = new TextEncoder().encode(text.slice(0, start)).length;
    let style: TextStyle | undefined;
    const rows = whole.split("\n").flatMap((line) => {
      const made = rowsOf(line, style);
      style = made.style;
      return made.rows;
    });
    return new TextRows([...rows, ...this.rows], {
      offset: offset + bytes,
      nextOffset: this.nextOffset,
      size: this.size,
      open: this.#open,
      style: this.#style,
      length: this.#length + whole.length,
    });
  }

  /** Whether its end is not loaded yet. */
  get hasMore(): boolean {
    return this.nextOffset < this.size;
  }
}

interface State {
  readonly offset: number;
  readonly nextOffset: number;
  readonly size: number;
  readonly open: string;
  readonly style: TextStyle | undefined;
  readonly length: number;
}

function rowsOf(line: string, style: TextStyle | undefined): { rows: TextRow[]; style: TextStyle } {
  const { text, spans, style: next } = parseLine(line, style);
  if (text.length <= ROW_MAX_LENGTH) return { rows: [{ text, spans, isContinued: false }], style: next };
  const pieces = spans === undefined ? [] : piecesOf(spans);
  const rows: TextRow[] = [];
  for (let from = 0; from < text.length; from += ROW_MAX_LENGTH)
    rows.push({
      text: text.slice(from, from + ROW_MAX_LENGTH),
      spans: pieces[rows.length],
      isContinued: from > 0,
    });
  return { rows, style: next };
}

/** Cuts the spans of a long line at the ends of its rows. */
function piecesOf(spans: readonly Span[]): Span[][] {
  const pieces: Span[][] = [[]];
  let room = ROW_MAX_LENGTH;
  for (const { text, style } of spans) {
    for (let from = 0; from < text.length; ) {
      if (room === 0) {
        pieces.push([]);
        room = ROW_MAX_LENGTH;
      }
      const part = text.slice(from, from + room);
      pieces.at(-1)?.push({ text: part, style });
      from += part.length;
      room -= part.length;
    }
  }
  return pieces;
}

/** Positions of the rows that contain a text, ignoring case. */
export function findRows(rows: readonly TextRow[], search: string): number[] {
  const wanted = search.toLowerCase();
  if (wanted === "") return [];
  return rows.flatMap(({ text }, index) => (text.toLowerCase().includes(wanted) ? [index] : []));
}
