const DIGITS = 4;

/** Four digits are as many as a measurement is worth; whole numbers stay as they are. */
export function rounded(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(DIGITS));
}

/** An object's numbers, and those of objects in it, rounded. */
export function roundedAll(value: unknown): unknown {
  if (typeof value === "number") return rounded(value);
  if (Array.isArray(value)) return value.map(roundedAll);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, roundedAll(one)]));
}

/** The smallest value that so large a part (0 to 1) of all does not exceed. NaN of none. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Slope of the straight line that fits the points best, in y for one of x; 0 where there is none. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const count = points.length;
  const middleX = points.reduce((sum, [x]) => sum + x, 0) / count;
  const middleY = points.reduce((sum, [, y]) => sum + y, 0) / count;
  const spread = points.reduce((sum, [x]) => sum + (x - middleX) ** 2, 0);
  return spread === 0 ? 0 : points.reduce((sum, [x, y]) => sum + (x - middleX) * (y - middleY), 0) / spread;
}
