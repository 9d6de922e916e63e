import { randomUUID } from "node:crypto";
import type * as z from "zod";
import { ApiError } from "../errors.ts";
import { parseBody } from "./json.ts";
import { checkBody } from "./request.ts";
import type { LargeBody } from "./route.ts";
import type { Service } from "./service.ts";

/** Receives the bytes of a long string, without its quotes and escapes. */
export interface LongString {
  /** The name of its field in the body. */
  readonly field: string;
  write(bytes: Uint8Array): void;
}

/** Strings above this many bytes are passed to `LongString.write`. */
const LONG_BYTES = 64 * 1024;
/** Limit of the rest of the body, bytes. */
const REST_MAX_BYTES = 256 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SIMPLE: Readonly<Record<string, number>> = {
  '"': QUOTE,
  "\\": BACKSLASH,
  "/": 0x2f,
  b: 8,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
};
/** Replaces escaped characters beyond ASCII, which are invalid in the long strings of every caller. */
const OTHER = 0xff;

/**
 * Reads a JSON object of which one string may be long: the string is passed on in chunks, everything else is parsed and
 * validated like any body. Returns the object, with an empty string in place of the long one. Throws `bad_request` with
 * the issues of each field.
 */
export async function readLargeJson<Body>(
  service: Service,
  schema: z.ZodType<Body>,
  { chunks }: LargeBody,
  long: LongString,
): Promise<Body> {
  const reader = new LargeJsonReader(service, long);
  for await (const chunk of chunks) reader.write(chunk);
  return checkBody(service, schema, reader.end());
}

/** Reads a JSON body into memory. Throws `bad_request` with the issues of each field. */
export async function readWholeJson<Body>(
  service: Service,
  schema: z.ZodType<Body>,
  { chunks }: LargeBody,
): Promise<Body> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return checkBody(service, schema, parseBody(service, decode(Buffer.concat(parts))));
}

class LargeJsonReader {
  readonly #service: Service;
  readonly #long: LongString;
  /** Replaces the long string in the rest of the body. */
  readonly #placeholder = randomUUID();
  readonly #rest: Uint8Array[] = [];
  #restBytes = 0;
  #inString = false;
  #isLong = false;
  #hasLong = false;
  /** The received part of a string that is not long yet, with its escapes. */
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  /** The received part of an escape sequence. */
  #sequence = "";

  constructor(service: Service, long: LongString) {
    this.#service = service;
    this.#long = long;
  }

  write(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let at = 0;
    while (at < bytes.length)
      at = this.#inString ? this.#readString(bytes, at) : this.#readOutside(bytes, at);
  }

  end(): unknown {
    const text = Buffer.concat([...this.#rest, ...this.#held]);
    const value = parseBody(this.#service, decode(text));
    if (!this.#hasLong) return value;
    const { field } = this.#long;
    const found = value !== null && typeof value === "object" && Object.hasOwn(value, field);
    if (!found || (value as Record<string, unknown>)[field] !== this.#placeholder) throw tooLong(field);
    return { ...value, [field]: "" };
  }

  #readOutside(bytes: Buffer, at: number): number {
    const quote = bytes.indexOf(QUOTE, at);
    const end = quote < 0 ? bytes.length : quote + 1;
    this.#appendRest(bytes.subarray(at, end));
    this.#inString = quote >= 0;
    return end;
  }

  #readString(bytes: Buffer, at: number): number {
    if (this.#sequence !== "") return this.#readEscape(bytes, at);
    const quote = bytes.indexOf(QUOTE, at);
    const end = quote < 0 ? bytes.length : quote;
    const found = bytes.subarray(at, end).indexOf(BACKSLASH);
    const stop = found < 0 ? end : at + found;
    if (stop > at) this.#appendString(bytes.subarray(at, stop));
    if (found >= 0) {
      this.#sequence = "\\";
      return stop + 1;
    }
    if (quote < 0) return end;
    this.#endString();
    return end + 1;
  }

  #readEscape(bytes: Buffer, at: number): number {
    this.#sequence += String.fromCharCode(bytes[at] ?? 0);
    const sequence = this.#sequence;
    if (sequence[1] === "u" && sequence.length < 6) return at + 1;
    this.#sequence = "";
    if (!this.#isLong) this.#appendString(Buffer.from(sequence, "latin1"));
    else this.#long.write(Uint8Array.of(characterOf(sequence)));
    return at + 1;
  }

  #appendString(part: Buffer): void {
    if (this.#isLong) {
      this.#long.write(part);
      return;
    }
    // The stream may reuse the chunk's buffer.
    this.#held.push(Buffer.from(part));
    this.#heldBytes += part.length;
    if (this.#heldBytes <= LONG_BYTES) return;
    if (this.#hasLong) throw tooLong(this.#long.field);
    const held = Buffer.concat(this.#held);
    this.#clearHeld();
    [this.#isLong, this.#hasLong] = [true, true];
    this.#rest.push(Buffer.from(this.#placeholder));
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
    for (const part of this.#held) this.#appendRest(part);
    this.#clearHeld();
    this.#appendRest(Uint8Array.of(QUOTE));
    [this.#inString, this.#isLong] = [false, false];
  }

  #clearHeld(): void {
    this.#held = [];
    this.#heldBytes = 0;
  }

  #appendRest(part: Uint8Array): void {
    this.#restBytes += part.length;
    if (this.#restBytes > REST_MAX_BYTES) throw tooLong(this.#long.field);
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

const tooLong = (field: string): ApiError =>
  new ApiError("bad_request", `body: longer than ${REST_MAX_BYTES / 1024} KiB, not counting \`${field}\``);
