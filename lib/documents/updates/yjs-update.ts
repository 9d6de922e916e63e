import { isUtf8 } from "node:buffer";

/** An update without structs and deletions. */
export const EMPTY_UPDATE_BYTES = 2;

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
const DELETED = 1;
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

  /** Reads length-prefixed UTF-8 text and returns its length in UTF-16 units, as Yjs counts them. */
  units(): number {
    const bytes = this.text();
    let units = 0;
    for (let at = this.#at - bytes; at < this.#at; at += 1) {
      const byte = this.#bytes[at] ?? 0;
      if ((byte & 0xc0) !== 0x80) units += byte >= 0xf0 ? 2 : 1;
    }
    return units;
  }

  /** A client and a clock, or a clock and a length. */
  id(): [number, number] {
    return [this.number(), this.number()];
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

/** Reads the content of an item and returns its length in clocks. */
function content(reader: Reader, kind: number): number {
  switch (kind) {
    case DELETED:
      return reader.number();
    case 2: {
      // JSON
      const count = reader.number();
      for (let left = count; left > 0; left -= 1) reader.json();
      return count;
    }
    case 3: // bytes
      reader.sized();
      return 1;
    case 4: // text
      return reader.units();
    case 5: // embedded
      reader.json();
      return 1;
    case 6: // a format
      reader.text();
      reader.json();
      return 1;
    case 7: {
      const type = reader.number();
      if (type >= TYPES) throw new InvalidUpdate();
      if (type === XML_ELEMENT || type === XML_HOOK) reader.text();
      return 1;
    }
    case 8: {
      // values
      const count = reader.number();
      for (let left = count; left > 0; left -= 1) reader.any();
      return count;
    }
    case 9: // a document
      reader.text();
      reader.any();
      return 1;
    default:
      throw new InvalidUpdate();
  }
}

/** Ranges of clocks as pairs of a start and the number after the end, in one list because there may be millions. */
export type ClockRanges = readonly number[];

/** What an update contains. Ranges are in the order of the update, with neighbours joined. */
export interface UpdateSummary {
  /** The structs of each client. */
  readonly structs: ReadonlyMap<number, ClockRanges>;
  /** The deleted structs of each client, whether the update contains them or not. */
  readonly deletions: ReadonlyMap<number, ClockRanges>;
  /** The highest clock of each client that structs of other clients refer to. */
  readonly references: ReadonlyMap<number, number>;
}

/** Collects what an update contains. */
class Summary implements UpdateSummary {
  readonly structs = new Map<number, number[]>();
  readonly deletions = new Map<number, number[]>();
  readonly references = new Map<number, number>();

  struct(client: number, clock: number, length: number, isDeleted: boolean): void {
    addRange(this.structs, client, clock, length);
    if (isDeleted) addRange(this.deletions, client, clock, length);
  }

  deletion(client: number, clock: number, length: number): void {
    addRange(this.deletions, client, clock, length);
  }

  reference(client: number, clock: number): void {
    if (clock > (this.references.get(client) ?? -1)) this.references.set(client, clock);
  }
}

function addRange(ranges: Map<number, number[]>, client: number, start: number, length: number): void {
  if (length === 0) return;
  const found = ranges.get(client);
  if (found === undefined) ranges.set(client, [start, start + length]);
  else if (found.at(-1) === start) found[found.length - 1] = start + length;
  else found.push(start, start + length);
}

/** Returns the length of the struct in clocks. */
function struct(reader: Reader, client: number, clock: number, into: Summary | undefined): number {
  const info = reader.byte();
  const kind = info & KIND_BITS;
  if (info === SKIP) return reader.number();
  let length: number;
  if (kind === GC) length = reader.number();
  else {
    const refer = (): void => {
      const [other, at] = reader.id();
      if (other !== client) into?.reference(other, at);
    };
    if ((info & HAS_ORIGIN) !== 0) refer();
    if ((info & HAS_RIGHT_ORIGIN) !== 0) refer();
    if ((info & (HAS_ORIGIN | HAS_RIGHT_ORIGIN)) === 0) {
      if (reader.number() === 1) reader.text();
      else refer();
      if ((info & HAS_PARENT_SUB) !== 0) reader.text();
    }
    length = content(reader, kind);
  }
  into?.struct(client, clock, length, kind === GC || kind === DELETED);
  return length;
}

/**
 * Whether the bytes are a Yjs update (version 1 encoding), checked by walking its structure. Clients must be unique;
 * counts and nesting are limited. Threat: hostile updates.
 */
export const isYjsUpdate = (bytes: Uint8Array): boolean => read(bytes, undefined);

/** Reads what a Yjs update contains; undefined if the bytes are no update. */
export function summarizeUpdate(bytes: Uint8Array): UpdateSummary | undefined {
  const summary = new Summary();
  return read(bytes, summary) ? summary : undefined;
}

function read(bytes: Uint8Array, into: Summary | undefined): boolean {
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
      let clock = reader.number();
      for (let left = count; left > 0; left -= 1) clock += struct(reader, client, clock, into);
    }
    for (let clients = atMost(reader.number(), CLIENTS_MAX); clients > 0; clients -= 1) {
      const client = reader.number();
      for (let left = atMost(reader.number(), STRUCTS_MAX); left > 0; left -= 1) {
        const [clock, length] = reader.id();
        into?.deletion(client, clock, length);
      }
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
