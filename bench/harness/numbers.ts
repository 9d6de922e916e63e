const DIGITS = 4;

/** Rounds to four significant digits, the precision of a measurement; integers are unchanged. */
export function roundNumber(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(DIGITS));
}

/** Rounds all numbers of a value, also nested ones. */
export function roundNumbers(value: unknown): unknown {
  if (typeof value === "number") return roundNumber(value);
  if (Array.isArray(value)) return value.map(roundNumbers);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, roundNumbers(one)]));
}

/** The smallest value that a share `part` (0 to 1) of all values does not exceed. NaN for an empty list. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Slope of the linear regression of the points, in y per x; 0 if it is undefined. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const count = points.length;
  const middleX = points.reduce((sum, [x]) => sum + x, 0) / count;
  const middleY = points.reduce((sum, [, y]) => sum + y, 0) / count;
  const spread = points.reduce((sum, [x]) => sum + (x - middleX) ** 2, 0);
  return spread === 0 ? 0 : points.reduce((sum, [x, y]) => sum + (x - middleX) * (y - middleY), 0) / spread;
}
