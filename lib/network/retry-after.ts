/**
 * The retry delay that a response requests, milliseconds; undefined if it requests none, never negative. Supports
 * `retry-after` (seconds or a date) and `retry-after-ms`.
 */
export function retryAfterMs(
  header: (name: "retry-after" | "retry-after-ms") => string | null | undefined,
  now: number,
): number | undefined {
  const exact = Number.parseFloat(header("retry-after-ms") ?? "");
  if (exact >= 0) return exact;
  const text = (header("retry-after") ?? "").trim();
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1_000;
  const date = text === "" ? Number.NaN : Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
