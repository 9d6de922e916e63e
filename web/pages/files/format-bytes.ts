const UNITS = ["B", "kB", "MB", "GB"] as const;
const STEP = 1_000;

/** Such as `340 B`, `1.2 kB`. */
export function formatBytes(bytes: number, language: string): string {
  let value = bytes;
  let unit = 0;
  while (value >= STEP && unit < UNITS.length - 1) {
    value /= STEP;
    unit += 1;
  }
  return `${new Intl.NumberFormat(language, { maximumFractionDigits: 1 }).format(value)} ${UNITS[unit]}`;
}
