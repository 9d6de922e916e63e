import { base64View, hexView, plainView, unescapeView, type View } from "./redaction-views.ts";

const REPLACEMENT = "***";
/** Redacting shorter values would remove ordinary text. */
const SHORTEST_SECRET = 4;
/** Maximum nesting of escapes, such as a URL in JSON in a log line. */
const ESCAPE_LEVELS = 4;
/** Start characters of escapes, for values that consist of escaped characters. */
const ESCAPE_MARKS: readonly string[] = ["%", "&", "\\", "'", "+"];
/** Maximum length of the part of a value that is searched first. */
const SEED_LENGTH = 12;

/** Texts are searched in chunks of this many characters, which limits memory. */
const PIECE_LENGTH = 64 * 1024;
/** Maximum length of one encoded character, with separators. */
const LONGEST_FORM = 24;

/** The values to search in a text that contains a seed, in the form that views have. */
interface Needles {
  /** Matches every text that contains a value in some form, and few other texts. */
  readonly seeds: RegExp;
  /** Maximum number of characters that a value may extend beyond a chunk. */
  readonly overlap: number;
  readonly plain: ReadonlySet<string>;
  /** Values with spaces for plus signs, as in a URL's query. */
  readonly spaced: ReadonlySet<string>;
  readonly base64: ReadonlySet<string>;
  readonly hex: ReadonlySet<string>;
}

export interface Redactor {
  /** Values shorter than 4 characters are ignored. */
  add(values: Iterable<string>): void;
  redact(text: string): string;
}

/**
 * Replaces values in texts: literal, percent-encoded, as HTML character references, escaped for JSON, JavaScript or a
 * shell, in base64 (also within longer base64, and in lines) and in hex, and in nested escapes. Values are never
 * forgotten: old logs may still contain them.
 */
export function createRedactor(): Redactor {
  const known = new Set<string>();
  let needles: Needles | undefined;
  return {
    add: (values) => {
      const news = [...values].filter((value) => value.length >= SHORTEST_SECRET && !known.has(value));
      if (news.length === 0) return;
      for (const value of news) known.add(value);
      needles = needlesOf([...known]);
    },
    redact: (text) => (needles?.seeds.test(text) === true ? replaceNeedles(text, needles) : text),
  };
}

function needlesOf(values: readonly string[]): Needles {
  const plain = values.flatMap((value) => [value, value.toWellFormed()]);
  return {
    seeds: anyOf(new Set(values.flatMap(seedsOf))),
    overlap: values.reduce((longest, { length }) => Math.max(longest, length), 0) * LONGEST_FORM + 1024,
    plain: new Set(plain),
    spaced: new Set(plain.map((value) => value.replaceAll("+", " "))),
    base64: new Set(values.flatMap(base64Pieces)),
    hex: new Set(values.map((value) => Buffer.from(value).toString("hex"))),
  };
}

interface TextRange {
  readonly start: number;
  readonly end: number;
}

function replaceNeedles(text: string, needles: Needles): string {
  const found: TextRange[] = [];
  for (let start = 0; start < text.length; start += PIECE_LENGTH) {
    const piece = plainView(text, start, start + PIECE_LENGTH + needles.overlap);
    if (needles.seeds.test(piece.text)) findNeedles(piece, needles, found);
  }
  return replaceRanges(text, found);
}

function findNeedles(piece: View, { plain, spaced, base64, hex }: Needles, found: TextRange[]): void {
  let view: View | undefined = piece;
  for (let level = 0; view !== undefined && level <= ESCAPE_LEVELS; level += 1) {
    find(view, plain, found);
    if (view.text.includes("+")) find({ ...view, text: view.text.replaceAll("+", " ") }, spaced, found);
    find(base64View(view), base64, found);
    find(hexView(view), hex, found);
    view = unescapeView(view);
  }
}

function find({ text, starts, ends }: View, needles: ReadonlySet<string>, found: TextRange[]): void {
  for (const needle of needles) {
    for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + needle.length)) {
      found.push({ start: starts[at] ?? 0, end: ends[at + needle.length - 1] ?? text.length });
    }
  }
}

/** Overlapping ranges are replaced as one. */
function replaceRanges(text: string, ranges: readonly TextRange[]): string {
  const sorted = [...ranges].sort((one, other) => one.start - other.start || other.end - one.end);
  let clean = "";
  let done = 0;
  for (const { start, end } of sorted) {
    if (end <= done) continue;
    if (start >= done) clean += text.slice(done, start) + REPLACEMENT;
    done = end;
  }
  return clean + text.slice(done);
}

/** The base64 characters that depend only on the value, for each offset in a group of three bytes. */
function base64Pieces(value: string): string[] {
  const bytes = Buffer.from(value);
  const pieces = [0, 1, 2].map((offset) => base64Piece(bytes, offset));
  const whole = bytes.toString("base64");
  return [whole, whole.replace(/=+$/, ""), ...pieces];
}

function base64Piece(value: Buffer, offset: number): string {
  const padded = Buffer.concat([Buffer.alloc(offset), value]).toString("base64");
  return padded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + value.length) * 8) / 6));
}

/** Texts of which every text that contains the value in some form contains at least one. */
function seedsOf(value: string): string[] {
  const letters = longestRun(value, /[A-Za-z0-9]+/g);
  const seeds =
    letters.length > 1
      ? [letters.slice(0, SEED_LENGTH), ...escapedForms(letters.slice(0, 2))]
      : [value.slice(0, 1), ...ESCAPE_MARKS];
  for (const piece of base64Pieces(value)) seeds.push(...base64Seeds(piece));
  for (const seed of hexSeeds(Buffer.from(value).toString("hex"))) seeds.push(seed, seed.toUpperCase());
  return seeds;
}

/** For dumps without separators, in lines, in groups of two bytes, and by byte. */
function hexSeeds(hex: string): string[] {
  const [a = "", b = "", c = "", d = "", e = "", f = ""] = hex.match(/../g) ?? [];
  const apart = [" ", ":", "-", ",", ", ", ";", "\\x"].map((between) => [a, b, c].join(between));
  return [
    a + b + c,
    f === "" ? c + d : d + e + f,
    `${a}${b} ${c}`,
    `${a} ${b}${c}`,
    `0x${a}`,
    `0X${a}`,
    ...apart,
  ];
}

function longestRun(text: string, pattern: RegExp): string {
  return (text.match(pattern) ?? []).reduce((best, run) => (run.length > best.length ? run : best), "");
}

/** ASCII characters, each of them escaped unnecessarily. */
function escapedForms(characters: string): string[] {
  const codes = [...characters].map((character) => character.charCodeAt(0).toString(16));
  const [first = ""] = codes;
  const forms = ["%", "%25", "\\x", "\\u00"].map((mark) => codes.map((code) => mark + code).join(""));
  return [
    ...forms.flatMap((form) => [form, form.replaceAll(/[a-f]/g, (digit) => digit.toUpperCase())]),
    ...["&#x", "&#X", "&#x00", "\\u{"].flatMap((mark) => [mark + first, mark + first.toUpperCase()]),
    `&#${Number.parseInt(first, 16)};`,
    `&#0${Number.parseInt(first, 16)};`,
  ];
}

/** Two parts, at most one of which a line break can split, without the characters in which alphabets differ. */
function base64Seeds(piece: string): string[] {
  const runs = (piece.match(/[A-Za-z0-9]{3,}/g) ?? []).flatMap((run) =>
    run.length < 8 ? [run] : [run.slice(0, run.length >> 1), run.slice(run.length >> 1)],
  );
  const long = runs.sort((one, other) => other.length - one.length).slice(0, 2);
  return long.length > 0 ? long.map((run) => run.slice(0, SEED_LENGTH)) : [piece.slice(0, 2)];
}

function anyOf(texts: ReadonlySet<string>): RegExp {
  const shortest = [...texts].filter((text) => text !== "");
  return new RegExp(shortest.map((text) => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&")).join("|"));
}
