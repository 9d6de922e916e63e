import { isUtf8 } from "node:buffer";

/** The bytes are not a valid update. */
class InvalidUpdate extends Error {}

/** Limits of an update: clients, structs in total, and nesting of a value. */
const CLIENTS_MAX = 100_000;
const STRUCTS_MAX = 10_000_000;
const DEPTH_MAX = 100;
/** Maximum size of a format or embedded value, which is parsed as JSON, bytes. */
const JSON_MAX_BYTES = 1024 * 1024;

/** Struct kinds: the lowest five bits of the info byte. */
const GC = 0;
const SKIP = 10;
const KIND_BITS = 0x1f;
const HAS_ORIGIN = 0x80;
const HAS_RIGHT_ORIGIN = 0x40;
const HAS_PARENT_SUB = 0x20;
/** Kinds of shared types. XML types have a name. */
const XML_ELEMENT = 3;
const XML_HOOK = 5;
const TYPES = 7;

/** Reads the Yjs encoding without building a document, so memory use is constant. */
class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at === this.#bytes.length;
  }

  byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new InvalidUpdate();
    this.#at += 1;
    return byte;
  }

  /** A variable-length unsigned integer (LEB128). */
  number(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (value > Number.MAX_SAFE_INTEGER) throw new InvalidUpdate();
      if (byte < 0x80) return value;
    }
  }

  /** A variable-length signed integer: sign and six bits in the first byte. */
  signed(): void {
    let byte = this.byte();
    for (let length = 1; byte >= 0x80; length += 1) {
      if (length > 8) throw new InvalidUpdate();
      byte = this.byte();
    }
  }

  skip(length: number): void {
    if (length > this.#bytes.length - this.#at) throw new InvalidUpdate();
    this.#at += length;
  }

  /** Reads length-prefixed bytes and returns the length. */
  sized(): number {
    const length = this.number();
    this.skip(length);
    return length;
  }

  /** Reads length-prefixed UTF-8 text and returns its length in bytes. */
  text(): number {
    const length = this.sized();
    // Most texts are short.
    for (let at = this.#at - length; at < this.#at; at += 1)
      if ((this.#bytes[at] ?? 0) > 0x7f) {
        if (!isUtf8(this.#last(length))) throw new InvalidUpdate();
        break;
      }
    return length;
  }

  #last(length: number): Uint8Array {
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  id(): void {
    this.number();
    this.number();
  }

  json(): void {
    const text = this.#last(this.text());
    if (text.length > JSON_MAX_BYTES || depthOf(text) > DEPTH_MAX) throw new InvalidUpdate();
    const json = new TextDecoder().decode(text);
    // Yjs also writes `undefined`, which is not JSON.
    if (json === "undefined") return;
    try {
      JSON.parse(json);
    } catch {
      throw new InvalidUpdate();
    }
  }

  /** A value in lib0's `any` encoding. */
  any(depth = 0): void {
    if (depth > DEPTH_MAX) throw new InvalidUpdate();
    switch (this.byte()) {
      case 127: // undefined
      case 126: // null
      case 121: // true
      case 120: // false
        return;
      case 125:
        this.signed();
        return;
      case 124:
        this.skip(4);
        return;
      case 123:
      case 122:
        this.skip(8);
        return;
      case 119:
        this.text();
        return;
      case 116:
        this.sized();
        return;
      case 118:
        for (let left = this.number(); left > 0; left -= 1) {
          this.text();
          this.any(depth + 1);
        }
        return;
      case 117:
        for (let left = this.number(); left > 0; left -= 1) this.any(depth + 1);
        return;
      default:
        throw new InvalidUpdate();
    }
  }
}

/** Upper bound of the nesting of JSON text. Brackets in strings count too. */
function depthOf(text: Uint8Array): number {
  let [depth, deepest] = [0, 0];
  for (const byte of text) {
    if (byte === 0x5b || byte === 0x7b) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1;
  }
  return deepest;
}

/** Reads the content of an item. */
function content(reader: Reader, kind: number): void {
  switch (kind) {
    case 1: // deleted
      reader.number();
      return;
    case 2: // JSON
      for (let left = reader.number(); left > 0; left -= 1) reader.json();
      return;
    case 3: // bytes
      reader.sized();
      return;
    case 4: // text
      reader.text();
      return;
    case 5: // embedded
      reader.json();
      return;
    case 6: // a format
      reader.text();
      reader.json();
      return;
    case 7: {
      const type = reader.number();
      if (type >= TYPES) throw new InvalidUpdate();
      if (type === XML_ELEMENT || type === XML_HOOK) reader.text();
      return;
    }
    case 8: // values
      for (let left = reader.number(); left > 0; left -= 1) reader.any();
      return;
    case 9: // a document
      reader.text();
      reader.any();
      return;
    default:
      throw new InvalidUpdate();
  }
}

function struct(reader: Reader): void {
  const info = reader.byte();
  const kind = info & KIND_BITS;
  if (kind === GC || info === SKIP) {
    reader.number();
    return;
  }
  const linked = (info & (HAS_ORIGIN | HAS_RIGHT_ORIGIN)) !== 0;
  if ((info & HAS_ORIGIN) !== 0) reader.id();
  if ((info & HAS_RIGHT_ORIGIN) !== 0) reader.id();
  if (!linked) {
    if (reader.number() === 1) reader.text();
    else reader.id();
    if ((info & HAS_PARENT_SUB) !== 0) reader.text();
  }
  content(reader, kind);
}

/**
 * Whether the bytes are a Yjs update (version 1 encoding), checked by walking its structure. Clients must be unique;
 * counts and nesting are limited. Threat: hostile updates.
 */
export function isYjsUpdate(bytes: Uint8Array): boolean {
  try {
    const reader = new Reader(bytes);
    const seen = new Set<number>();
    let structs = 0;
    for (let clients = atMost(reader.number(), CLIENTS_MAX); clients > 0; clients -= 1) {
      const count = reader.number();
      structs = atMost(structs + count, STRUCTS_MAX);
      const client = reader.number();
      if (seen.has(client)) return false;
      seen.add(client);
      reader.number();
      for (let left = count; left > 0; left -= 1) struct(reader);
    }
    for (let clients = atMost(reader.number(), CLIENTS_MAX); clients > 0; clients -= 1) {
      reader.number();
      for (let left = atMost(reader.number(), STRUCTS_MAX); left > 0; left -= 1) reader.id();
    }
    return reader.done;
  } catch (error) {
    if (error instanceof InvalidUpdate) return false;
    throw error;
  }
}

function atMost(value: number, max: number): number {
  if (value > max) throw new InvalidUpdate();
  return value;
}
