const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Maximum length of a duration, which limits the time of matching. */
const TEXT_CHARACTERS = 64;
const NUMBER = /^\d+(?:\.\d+)?$/;
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;

/**
 * Milliseconds of a duration: a bare number means seconds, a text may contain units (`500ms`, `30s`, `1h30m`).
 * Undefined if it is invalid, negative or exceeds the safe integers. Seed: workflow 2.7 (timeout).
 */
export function parseDuration(value: string | number): number | undefined {
  if (typeof value === "number") return toMilliseconds(value * 1_000);
  const text = value.trim();
  if (text.length > TEXT_CHARACTERS) return undefined;
  if (NUMBER.test(text)) return toMilliseconds(Number(text) * 1_000);
  if (!WHOLE.test(text)) return undefined;
  let total = 0;
  for (const [, amount = "", unit = ""] of text.matchAll(PART))
    total += Number(amount) * (UNIT_MS[unit] ?? 0);
  return toMilliseconds(total);
}

function toMilliseconds(value: number): number | undefined {
  const whole = Math.round(value);
  return whole >= 0 && Number.isSafeInteger(whole) ? whole : undefined;
}
