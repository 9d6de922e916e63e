import { hasControlInText } from "../../events/control-characters.ts";
import type { Attribute } from "../../platform/tables.ts";

/** Fields that a record accepts from an event, and the size of each and of all as JSON, characters. */
const FIELDS_MAX = 60;
const FIELD_MAX_LENGTH = 16 * 1024;
const FIELDS_MAX_LENGTH = 64 * 1024;
/** Longest field name, characters, and deepest nesting: an item of a table holds no more. */
const NAME_MAX_LENGTH = 128;
const DEPTH_MAX = 24;

/**
 * The fields that a record accepts from an event, without its own fields and empty ones. Skips fields that are too many,
 * too long or nested too deeply, text fields with other values, and labels with control characters other than tabs and
 * line breaks.
 */
export function acceptedFields(
  data: Readonly<Record<string, unknown>>,
  own: ReadonlySet<string>,
  texts: ReadonlySet<string>,
  labels: ReadonlySet<string>,
): Record<string, Attribute> {
  const fields: Record<string, Attribute> = {};
  let left = FIELDS_MAX_LENGTH;
  for (const [name, value] of Object.entries(data).slice(0, FIELDS_MAX)) {
    if (own.has(name) || name === "__proto__" || value === null || value === undefined || value === "")
      continue;
    if (name === "" || name.length > NAME_MAX_LENGTH || (texts.has(name) && typeof value !== "string"))
      continue;
    if (labels.has(name) && typeof value === "string" && hasControlInText(value)) continue;
    const length = jsonLength(value);
    if (length > Math.min(FIELD_MAX_LENGTH, left) || isDeeper(value, DEPTH_MAX)) continue;
    fields[name] = value as Attribute;
    left -= length;
  }
  return fields;
}

/** Characters that JSON escapes. */
const ESCAPED = /["\\\p{Cc}\p{Cs}]/u;

/** Length of a value as JSON; most values are measured without serializing them. */
function jsonLength(value: unknown): number {
  if (typeof value === "string" && !ESCAPED.test(value)) return value.length + 2;
  return typeof value === "boolean" ? String(value).length : JSON.stringify(value).length;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

/** Names of the fields whose values differ from the known ones; the order of keys does not matter. */
export function changedFields(
  known: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, unknown>>,
): string[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    Object.hasOwn(known, name) && isSame(known[name], value) ? [] : [name],
  );
}

function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const entries = Object.entries(one);
  return (
    entries.length === Object.keys(other).length &&
    entries.every(([name, value]) => isSame(value, (other as Record<string, unknown>)[name]))
  );
}

/** The text itself; "" for any other value. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** The texts of a list; a single text counts as a list. */
export function textsOf(value: unknown): string[] {
  if (typeof value === "string") return value === "" ? [] : [value];
  return Array.isArray(value)
    ? value.filter((one): one is string => typeof one === "string" && one !== "")
    : [];
}
