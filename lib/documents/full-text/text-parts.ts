import { setImmediate as nextTurn } from "node:timers/promises";
import type { TextWords } from "../../platform/full-text.ts";
import { joinWords } from "./words.ts";

/** What a part of a document's text is. */
export const PART_FIELDS = ["title", "heading", "body", "attachment", "comment"] as const;
export type PartField = (typeof PART_FIELDS)[number];

/** A part of the text of a document, such as a paragraph. */
export interface TextPart {
  readonly field: PartField;
  /** Id of the block or of the comment's thread, or the key of the attachment. */
  readonly source: string | null;
  readonly text: string;
}

/** Maximum bytes of indexed text: of titles and content, of names of attachments, of comments. */
const LIMITS: Readonly<Record<PartField, number>> = {
  title: 4 * 1024,
  heading: 256 * 1024,
  body: 256 * 1024,
  attachment: 32 * 1024,
  comment: 64 * 1024,
};

/** Drops what exceeds the limits, and parts without text. Headings and body have one limit together. */
export function limitParts(parts: readonly TextPart[]): TextPart[] {
  const left: Record<PartField, number> = { ...LIMITS };
  return parts.flatMap((part): TextPart[] => {
    const field = part.field === "heading" ? "body" : part.field;
    const text = cutToBytes(part.text, left[field]);
    left[field] -= Buffer.byteLength(text);
    return text.trim() === "" ? [] : [{ ...part, text }];
  });
}

function cutToBytes(text: string, bytes: number): string {
  if (text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes) return text.toWellFormed();
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
}

type Encoded = readonly (readonly [field: number, source: string | null, text: string])[];

/** The bytes of parts, equal for equal parts. */
export function encodeParts(parts: readonly TextPart[]): Uint8Array {
  const encoded: Encoded = parts.map(({ field, source, text }) => [PART_FIELDS.indexOf(field), source, text]);
  return new TextEncoder().encode(JSON.stringify(encoded));
}

export function decodeParts(data: Uint8Array): TextPart[] {
  if (data.length === 0) return [];
  const encoded = JSON.parse(new TextDecoder().decode(data)) as Encoded;
  return encoded.map(([field, source, text]) => ({ field: PART_FIELDS[field] ?? "body", source, text }));
}

/** The place of each field in the full-text port. */
const PLACES = {
  title: "title",
  heading: "headings",
  body: "body",
  attachment: "body",
  comment: "comments",
} as const satisfies Record<PartField, keyof TextWords>;
/** Characters that are split in one turn of the event loop. */
const SPLIT_AT_ONCE = 16 * 1024;

type Words = { [Place in keyof TextWords]: string[] };
const noWords = (): Words => ({ title: [], headings: [], body: [], comments: [] });

/** The words of parts by the places of the full-text port. */
export function wordsOf(parts: readonly TextPart[]): TextWords {
  const words = noWords();
  for (const { field, text } of parts) words[PLACES[field]].push(joinWords(text));
  return words;
}

/** Like `wordsOf`, and lets the event loop serve requests in between. */
export async function splitInTurns(parts: readonly TextPart[]): Promise<TextWords> {
  const words = noWords();
  let characters = 0;
  for (const { field, text } of parts) {
    words[PLACES[field]].push(joinWords(text));
    characters += text.length;
    if (characters < SPLIT_AT_ONCE) continue;
    characters = 0;
    await nextTurn();
  }
  return words;
}
