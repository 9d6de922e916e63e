import { checkLimit, isRecording, recordValue } from "../high-water-marks.ts";
import { measureItem, type StoredItem } from "../item-size.ts";
import { LIMITS, limitFault } from "../limits.ts";

/**
 * Items are stored as JSON. Binary values become `{"\u0000b": base64}`; attribute names that start with NUL get another
 * NUL, so that they differ from it.
 */
const BINARY = "\u0000b";

interface Scan {
  /** At least a third of the size that DynamoDB counts. */
  units: number;
  /** The item contains values that plain JSON cannot represent. */
  special: boolean;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function scan(value: unknown, depth: number, into: Scan): void {
  switch (typeof value) {
    case "string":
      into.units += value.length;
      return;
    case "number":
      if (!Number.isFinite(value)) throw new TypeError(`an item cannot contain ${value}`);
      into.units += 8;
      return;
    case "boolean":
      into.units += 1;
      return;
    case "object":
      break;
    default:
      throw new TypeError(`an item cannot contain a ${typeof value}`);
  }
  if (value === null) {
    into.units += 1;
    return;
  }
  if (value instanceof Uint8Array) {
    into.units += value.byteLength;
    into.special = true;
    return;
  }
  recordValue("itemDepth", depth);
  if (depth > LIMITS.itemDepth.value) throw limitFault("itemDepth", "the item");
  into.units += 3;
  if (Array.isArray(value)) {
    for (const element of value) {
      into.units += 1;
      scan(element, depth + 1, into);
    }
    return;
  }
  if (!isPlain(value)) throw new TypeError("an item can contain only plain objects");
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    into.units += name.length + 1;
    if (name.charCodeAt(0) === 0) into.special = true;
    scan(member, depth + 1, into);
  }
}

function encodeSpecial(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array) {
    return { [BINARY]: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64") };
  }
  if (Array.isArray(value)) return value.map(encodeSpecial);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.charCodeAt(0) === 0 ? `\u0000${name}` : name,
      encodeSpecial(member),
    ]),
  );
}

function decodeSpecial(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(decodeSpecial);
  const entries = Object.entries(value);
  const [first] = entries;
  if (entries.length === 1 && first?.[0] === BINARY && typeof first[1] === "string") {
    return new Uint8Array(Buffer.from(first[1], "base64"));
  }
  return Object.fromEntries(
    entries.map(([name, member]) => [name.charCodeAt(0) === 0 ? name.slice(1) : name, decodeSpecial(member)]),
  );
}

export interface EncodedItem {
  readonly text: string;
  /** At least the size that DynamoDB counts; exact above a third of the limit. */
  readonly bytes: number;
}

/**
 * Encodes an item. Throws `limit_exceeded` above 400 KB or 32 levels, TypeError for values that an item cannot store.
 */
export function encodeItem(item: object): EncodedItem {
  const found: Scan = { units: 0, special: false };
  scan(item, 0, found);
  let bytes = found.units * 3;
  if (bytes > LIMITS.itemBytes.value || isRecording()) {
    bytes = measureItem(item);
    checkLimit("itemBytes", "the item", bytes);
  }
  return { text: JSON.stringify(found.special ? encodeSpecial(item) : item), bytes };
}

export function decodeItem(text: string): StoredItem {
  const value: unknown = JSON.parse(text);
  return (text.includes("\\u0000") ? decodeSpecial(value) : value) as StoredItem;
}
