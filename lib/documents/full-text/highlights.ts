import * as z from "zod";
import type { TextTerm } from "../../platform/full-text.ts";
import { PART_FIELDS, type PartField, type TextPart } from "./text-parts.ts";
import { splitWords, type Word } from "./words.ts";

/** An excerpt of what a search found, as returned by the API. */
export const highlightRecord = z
  .object({
    field: z.enum(PART_FIELDS).describe("Where the text is"),
    block_id: z.string().nullable().describe("The block with the text, in the content of an editor"),
    thread_id: z.string().nullable().describe("The thread of the comment"),
    text: z.string().describe("Plain text; an ellipsis stands for what is left out"),
    matches: z
      .array(z.object({ start: z.int(), end: z.int() }))
      .describe("What matches in `text`, UTF-16 code units; `end` is exclusive"),
  })
  .meta({ id: "SearchHighlight" });

export type Highlight = z.infer<typeof highlightRecord>;

/** Excerpts of a document. */
const HIGHLIGHTS_MAX = 3;
/** Characters of an excerpt, and those before its first match. */
const EXCERPT_LENGTH = 200;
const BEFORE_LENGTH = 50;
const MATCHES_MAX = 20;

interface Range {
  readonly start: number;
  readonly end: number;
}

interface Found {
  readonly part: TextPart;
  readonly ranges: readonly Range[];
  readonly terms: ReadonlySet<number>;
}

/** Selects excerpts that together show every term, with as few excerpts as possible; of equal ones, the first. */
export function composeHighlights(parts: readonly TextPart[], terms: readonly TextTerm[]): Highlight[] {
  const found = parts.flatMap((part) => {
    const match = matchPart(part, terms);
    return match === undefined ? [] : [match];
  });
  const missing = new Set(terms.keys());
  const highlights: Highlight[] = [];
  while (missing.size > 0 && highlights.length < HIGHLIGHTS_MAX) {
    let best: Found | undefined;
    let most = 0;
    for (const one of found) {
      const count = [...one.terms].filter((term) => missing.has(term)).length;
      if (count > most) [best, most] = [one, count];
    }
    if (best === undefined) break;
    for (const term of best.terms) missing.delete(term);
    highlights.push(toHighlight(best));
  }
  return highlights;
}

function matchPart(part: TextPart, terms: readonly TextTerm[]): Found | undefined {
  const words = splitWords(part.text);
  const ranges: Range[] = [];
  const matched = new Set<number>();
  for (const [at, term] of terms.entries()) {
    for (let from = 0; from < words.length; from += 1) {
      const range = matchAt(words, from, term);
      if (range === undefined) continue;
      ranges.push(range);
      matched.add(at);
    }
  }
  return matched.size === 0 ? undefined : { part, ranges: mergeRanges(ranges), terms: matched };
}

function matchAt(
  words: readonly Word[],
  from: number,
  { words: wanted, isPrefix }: TextTerm,
): Range | undefined {
  for (const [at, word] of wanted.entries()) {
    const found = words[from + at]?.word;
    const isBeginning = isPrefix && at === wanted.length - 1 && found?.startsWith(word) === true;
    if (found !== word && !isBeginning) return undefined;
  }
  const [first, last] = [words[from], words[from + wanted.length - 1]];
  return first === undefined || last === undefined ? undefined : { start: first.start, end: last.end };
}

function mergeRanges(ranges: readonly Range[]): Range[] {
  const merged: Range[] = [];
  for (const range of ranges.toSorted((one, other) => one.start - other.start)) {
    const last = merged.at(-1);
    if (last === undefined || range.start > last.end) merged.push(range);
    else merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, range.end) };
  }
  return merged;
}

function toHighlight({ part: { field, source, text }, ranges }: Found): Highlight {
  const first = ranges[0]?.start ?? 0;
  const from = boundaryBefore(text, first - BEFORE_LENGTH);
  const to = boundaryBefore(text, from + EXCERPT_LENGTH);
  const before = from > 0 ? "…" : "";
  const shift = before.length - from;
  return {
    field,
    block_id: isBlock(field) ? source : null,
    thread_id: field === "comment" ? source : null,
    text: `${before}${text.slice(from, to)}${to < text.length ? "…" : ""}`,
    matches: ranges
      .filter(({ start }) => start < to)
      .slice(0, MATCHES_MAX)
      .map(({ start, end }) => ({ start: start + shift, end: Math.min(end, to) + shift })),
  };
}

const isBlock = (field: PartField): boolean => field === "heading" || field === "body";
const LOW_SURROGATE = /^[\udc00-\udfff]/;

/** The position, or the one before it if a character would be cut. */
function boundaryBefore(text: string, at: number): number {
  const position = Math.min(Math.max(at, 0), text.length);
  return LOW_SURROGATE.test(text.slice(position, position + 1)) ? position - 1 : position;
}
