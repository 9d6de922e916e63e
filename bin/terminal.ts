/** The process's environment and its standard streams. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Columns of the screen; undefined if lines are not limited. */
  readonly width: number | undefined;
  /** Whether standard output is a terminal. */
  readonly isInteractive: boolean;
  /** How often something was written to standard output. */
  readonly writes: number;
  out(text: string): void;
  error(text: string): void;
}

let writes = 0;

export const terminal: Terminal = {
  env: process.env,
  get width() {
    return screenWidth();
  },
  isInteractive: process.stdout.isTTY === true,
  get writes() {
    return writes;
  },
  out: (text) => {
    writes += 1;
    process.stdout.write(text);
  },
  error: (text) => void process.stderr.write(text),
};

function screenWidth(): number | undefined {
  if (process.stdout.isTTY && process.stdout.columns > 0) return process.stdout.columns;
  const { COLUMNS: columns = "" } = process.env;
  return /^[1-9]\d{0,4}$/.test(columns) ? Number(columns) : undefined;
}

/** Replaces control characters, so that data cannot act on the terminal or break the line. */
export function printable(text: string): string {
  return text.replace(/\p{C}+/gu, " ").trim();
}
