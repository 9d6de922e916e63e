import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { checkLimit, recordValue } from "../high-water-marks.ts";
import { measureItem } from "../item-size.ts";
import { LIMITS, limitFault } from "../limits.ts";

export type Attributes = Record<string, AttributeValue>;

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Throws TypeError for values that an item cannot store, `limit_exceeded` beyond 32 levels. */
export function toAttribute(value: unknown, depth = 1): AttributeValue {
  switch (typeof value) {
    case "string":
      return { S: value };
    case "boolean":
      return { BOOL: value };
    case "number":
      if (!Number.isFinite(value)) throw new TypeError(`an item cannot contain ${value}`);
      return { N: String(value) };
    case "object":
      break;
    default:
      throw new TypeError(`an item cannot contain a ${typeof value}`);
  }
  if (value === null) return { NULL: true };
  if (value instanceof Uint8Array) return { B: value };
  recordValue("itemDepth", depth);
  if (depth > LIMITS.itemDepth.value) throw limitFault("itemDepth", "the item");
  if (Array.isArray(value)) return { L: value.map((element: unknown) => toAttribute(element, depth + 1)) };
  if (!isPlain(value)) throw new TypeError("an item can contain only plain objects");
  return { M: toMap(value, depth + 1) };
}

function toMap(value: object, depth: number): Attributes {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]: [string, unknown]) =>
      member === undefined ? [] : [[name, toAttribute(member, depth)]],
    ),
  );
}

export interface SizedAttributes {
  readonly attributes: Attributes;
  /** Size as DynamoDB counts it. */
  readonly bytes: number;
}

/**
 * Converts an item to DynamoDB's format without its undefined members. Throws `limit_exceeded` above 400 KB or 32
 * levels.
 */
export function toItem(item: object): SizedAttributes {
  const attributes = toMap(item, 1);
  const bytes = measureItem(item);
  checkLimit("itemBytes", "the item", bytes);
  return { attributes, bytes };
}

export function fromAttribute(attribute: AttributeValue): unknown {
  if (attribute.S !== undefined) return attribute.S;
  if (attribute.N !== undefined) return Number(attribute.N);
  if (attribute.BOOL !== undefined) return attribute.BOOL;
  if (attribute.NULL !== undefined) return null;
  // Copied, because the SDK returns a view of a larger buffer.
  if (attribute.B !== undefined) return new Uint8Array(attribute.B);
  if (attribute.L !== undefined) return attribute.L.map(fromAttribute);
  if (attribute.M !== undefined) return fromItem(attribute.M);
  throw new TypeError(`unsupported attribute type: ${Object.keys(attribute).join(", ")}`);
}

export function fromItem(attributes: Attributes): Record<string, unknown> {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, fromAttribute(value)]));
}
