import type { Attribute } from "./tables.ts";

/** An item as a table stores it. */
export type StoredItem = Readonly<Record<string, Attribute | undefined>>;

const utf8 = (text: string): number => Buffer.byteLength(text);

/**
 * Size of a value in bytes as DynamoDB counts it: names and text in UTF-8, 3 for a list or map and 1 for each member.
 * Numbers take about half their digits plus one; the documentation is no more precise.
 */
export function measureItem(value: unknown): number {
  if (typeof value === "string") return utf8(value);
  if (typeof value === "number") return Math.min(21, Math.ceil(String(value).length / 2) + 1);
  if (typeof value !== "object" || value === null) return 1;
  if (value instanceof Uint8Array) return value.byteLength;
  let bytes = 3;
  if (Array.isArray(value)) {
    for (const element of value) bytes += 1 + measureItem(element);
    return bytes;
  }
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) bytes += 1 + utf8(name) + measureItem(member);
  }
  return bytes;
}
