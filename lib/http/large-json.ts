import { randomUUID } from "node:crypto";
import type * as z from "zod";
import { ApiError } from "../errors.ts";
import { parseFields } from "./json.ts";
import { checkBody } from "./request.ts";
import type { LargeBody } from "./route.ts";

/** Takes the bytes of a long string, without its quotes and escapes. */
export interface LongString {
  /** Of this field of the body. */
  readonly field: string;
  write(bytes: Uint8Array): void;
}

/** Strings above this many bytes are handed over; what is left of the body may be so large. */
const LONG_BYTES = 64 * 1024;
const REST_MAX_BYTES = 256 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SIMPLE: Readonly<Record<string, number>> = {
  ...{ '"': QUOTE, "\\": BACKSLASH, "/": 0x2f, b: 8, f: 12, n: 10, r: 13, t: 9 },
};
/** Stands for a character beyond ASCII that was escaped: the strings that are long here hold none. */
const OTHER = 0xff;

/**
 * Reads a JSON object of which one string may be long: it is handed over as it comes, everything else is parsed and
 * checked as any body is. Answers the object, with an empty string in place of one that was handed over. Throws
 * `bad_request` with each field's faults.
 */
export async function readLargeJson<Body>(
  schema: z.ZodType<Body>,
  { chunks }: LargeBody,
  long: LongString,
): Promise<Body> {
  const reader = new Reader(long);
  for await (const chunk of chunks) reader.take(chunk);
  return checkBody(schema, reader.end());
}

class Reader {
  readonly #long: LongString;
  /** What stands for the long string in the rest of the body. */
  readonly #mark = randomUUID();
  readonly #rest: Uint8Array[] = [];
  #restBytes = 0;
  #inString = false;
  #isLong = false;
  #hadLong = false;
  /** Of a string that may become long: what has come of it, with its escapes. */
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  /** An escaped character whose end has not come yet. */
  #sequence = "";

  constructor(long: LongString) {
    this.#long = long;
  }

  take(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let at = 0;
    while (at < bytes.length) at = this.#inString ? this.#inside(bytes, at) : this.#outside(bytes, at);
  }

  end(): unknown {
    const text = Buffer.concat([...this.#rest, ...this.#held]);
    const value = parseFields(decode(text));
    if (!this.#hadLong) return value;
    const { field } = this.#long;
    const found = value !== null && typeof value === "object" && Object.hasOwn(value, field);
    if (!found || (value as Record<string, unknown>)[field] !== this.#mark) throw tooLong();
    return { ...value, [field]: "" };
  }

  #outside(bytes: Buffer, at: number): number {
    const quote = bytes.indexOf(QUOTE, at);
    const end = quote < 0 ? bytes.length : quote + 1;
    this.#keep(bytes.subarray(at, end));
    this.#inString = quote >= 0;
    return end;
  }

  #inside(bytes: Buffer, at: number): number {
    if (this.#sequence !== "") return this.#escaped(bytes, at);
    const quote = bytes.indexOf(QUOTE, at);
    const end = quote < 0 ? bytes.length : quote;
    const found = bytes.subarray(at, end).indexOf(BACKSLASH);
    const stop = found < 0 ? end : at + found;
    if (stop > at) this.#string(bytes.subarray(at, stop));
    if (found >= 0) {
      this.#sequence = "\\";
      return stop + 1;
    }
    if (quote < 0) return end;
    this.#endString();
    return end + 1;
  }

  #escaped(bytes: Buffer, at: number): number {
    this.#sequence += String.fromCharCode(bytes[at] ?? 0);
    const sequence = this.#sequence;
    if (sequence[1] === "u" && sequence.length < 6) return at + 1;
    this.#sequence = "";
    if (!this.#isLong) this.#string(Buffer.from(sequence, "latin1"));
    else this.#long.write(Uint8Array.of(characterOf(sequence)));
    return at + 1;
  }

  #string(part: Buffer): void {
    if (this.#isLong) {
      this.#long.write(part);
      return;
    }
    // The chunk that it is a part of may be used again.
    this.#held.push(Buffer.from(part));
    this.#heldBytes += part.length;
    if (this.#heldBytes <= LONG_BYTES) return;
    if (this.#hadLong) throw tooLong();
    const held = Buffer.concat(this.#held);
    this.#clear();
    [this.#isLong, this.#hadLong] = [true, true];
    this.#rest.push(Buffer.from(this.#mark));
    let from = 0;
    for (let slash = held.indexOf(BACKSLASH); slash >= 0; slash = held.indexOf(BACKSLASH, from)) {
      this.#long.write(held.subarray(from, slash));
      const sequence = held.toString("latin1", slash, slash + (held[slash + 1] === 0x75 ? 6 : 2));
      this.#long.write(Uint8Array.of(characterOf(sequence)));
      from = slash + sequence.length;
    }
    this.#long.write(held.subarray(from));
  }

  #endString(): void {
    for (const part of this.#held) this.#keep(part);
    this.#clear();
    this.#keep(Uint8Array.of(QUOTE));
    [this.#inString, this.#isLong] = [false, false];
  }

  #clear(): void {
    this.#held = [];
    this.#heldBytes = 0;
  }

  #keep(part: Uint8Array): void {
    this.#restBytes += part.length;
    if (this.#restBytes > REST_MAX_BYTES) throw tooLong();
    this.#rest.push(Buffer.from(part));
  }
}

function characterOf(sequence: string): number {
  const simple = SIMPLE[sequence[1] ?? ""];
  if (simple !== undefined) return simple;
  const hex = sequence.slice(2);
  const code = /^[0-9a-f]{4}$/i.test(hex) ? Number.parseInt(hex, 16) : OTHER;
  return code < 0x80 ? code : OTHER;
}

function decode(text: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(text);
  } catch {
    throw new ApiError("bad_request", "body: must be UTF-8 text");
  }
}

const tooLong = (): ApiError => new ApiError("bad_request", "body: more of it is long than may be");
