/** Conversion of function arguments, which are JSON values of any type. */

/** Missing values and null are empty; objects and lists become JSON. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** A finite number; otherwise the fallback. */
export function numberOf(value: unknown, fallback: number): number {
  const number = typeof value === "number" ? value : Number.parseFloat(textOf(value));
  return Number.isFinite(number) ? number : fallback;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value is blank: missing, null, white space, or an empty list. */
export function isBlank(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value === "string") return value.trim() === "";
  return Array.isArray(value) && value.length === 0;
}
