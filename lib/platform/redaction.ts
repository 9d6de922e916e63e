const REPLACEMENT = "***";
/** Shorter values would black out ordinary text. */
const SHORTEST_SECRET = 4;
/** A piece of base64 shorter than this turns up in other base64 by chance. */
const SHORTEST_PIECE = 8;

/** The characters of base64 text that the value alone decides when it starts `offset` bytes into a group of three. */
function base64Piece(value: Buffer, offset: number): string {
  const padded = Buffer.concat([Buffer.alloc(offset), value]).toString("base64");
  return padded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + value.length) * 8) / 6));
}

function base64Forms(value: string): string[] {
  const bytes = Buffer.from(value);
  const pieces = [0, 1, 2]
    .map((offset) => base64Piece(bytes, offset))
    .filter((piece) => piece.length >= SHORTEST_PIECE);
  const forms = [bytes.toString("base64"), bytes.toString("base64").replace(/=+$/, ""), ...pieces];
  return [...forms, ...forms.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))];
}

function jsonForm(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

/** The value and how it looks in base64 (also inside a longer text), in a URL and in JSON (also twice escaped). */
function formsOf(value: string): string[] {
  const url = encodeURIComponent(value.toWellFormed());
  const lowerEscapes = url.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase());
  const form = new URLSearchParams({ v: value }).toString().slice(2);
  const json = jsonForm(value);
  return [value, ...base64Forms(value), url, lowerEscapes, form, json, jsonForm(json)];
}

export interface Redactor {
  /** Values shorter than 4 characters are left out. */
  add(values: Iterable<string>): void;
  redact(text: string): string;
}

/** Replaces values in texts, longest form first. A value stays known for good: old logs may still hold it. */
export function createRedactor(): Redactor {
  const known = new Set<string>();
  let forms: string[] = [];
  return {
    add: (values) => {
      const news = [...values].filter((value) => value.length >= SHORTEST_SECRET && !known.has(value));
      if (news.length === 0) return;
      for (const value of news) known.add(value);
      forms = [...new Set([...forms, ...news.flatMap(formsOf)])].sort((a, b) => b.length - a.length);
    },
    redact: (text) => {
      let clean = text;
      for (const form of forms) if (clean.includes(form)) clean = clean.replaceAll(form, REPLACEMENT);
      return clean;
    },
  };
}
