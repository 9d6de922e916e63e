import { randomBytes, randomInt, randomUUID } from "node:crypto";
import { renderText } from "../expressions/render-text.ts";

/** The inputs of a generator besides its arguments. */
export interface GeneratorContext {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Values that an argument may name. */
  readonly values: Readonly<Record<string, unknown>>;
}

type Generator = (args: readonly string[], context: GeneratorContext) => string;

/** Maximum length of a generator's source, and of the generated text, characters. */
const SOURCE_MAX = 2_000;
const TEXT_MAX = 64 * 1024;
const RANDOM_MAX = 1_024;
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** The functions that generate a parameter's value. Reference 2.6. */
const GENERATORS: Readonly<Record<string, Generator>> = {
  uuid: () => randomUUID(),
  currentDate: ([layout = "2006-01-02"], { now }) => formatDate(new Date(now), layout),
  currentTimestamp: (_args, { now }) => String(Math.floor(now / 1000)),
  concat: (args) => args.join(""),
  randomInt: ([from = "0", to = "100"]) => {
    const [low, high] = [wholeNumber(from), wholeNumber(to)];
    if (high < low) throw new Error("the second number must not be smaller than the first");
    return String(high === low ? low : randomInt(low, high));
  },
  randomString: ([length = "16"]) => {
    const count = wholeNumber(length);
    if (count < 1 || count > RANDOM_MAX) throw new Error(`the length must be 1 to ${RANDOM_MAX}`);
    return Array.from(randomBytes(count), (byte) => LETTERS[byte % LETTERS.length]).join("");
  },
  toLower: ([text = ""]) => text.toLowerCase(),
  toUpper: ([text = ""]) => text.toUpperCase(),
  trim: ([text = ""]) => text.trim(),
  replace: ([text = "", from = "", to = ""]) => (from === "" ? text : text.split(from).join(to)),
  split: ([text = "", by = ",", index = "0"]) => text.split(by).at(wholeNumber(index)) ?? "",
  join: ([by = "", ...rest]) => rest.join(by),
};

/**
 * Unsupported, although in the reference: a server's environment holds secrets, and creating a run executes no
 * commands.
 */
const REFUSED: ReadonlySet<string> = new Set(["getEnvVar", "execCmd"]);

/** An unsupported generator of the reference. The parameter gets its default, or else the `fallback`. */
export class GeneratorUnavailableError extends Error {
  readonly fallback: string | undefined;

  constructor(message: string, fallback?: string) {
    super(message);
    this.fallback = fallback;
  }
}

const CALL = /^\s*([A-Za-z_]\w*)\s*\(([\s\S]*)\)\s*$/;
const ARGUMENT = /\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^,"'\s][^,"']*))\s*(?:,|$)/y;

/**
 * Evaluates a generator: one call whose arguments are texts, numbers or names of values. Throws an Error with the
 * reason.
 */
export function generate(source: string, context: GeneratorContext): string {
  if (source.length > SOURCE_MAX) throw new Error(`longer than ${SOURCE_MAX} characters`);
  const [, name = "", list = ""] = CALL.exec(source) ?? [];
  const generator = Object.hasOwn(GENERATORS, name) ? GENERATORS[name] : undefined;
  if (REFUSED.has(name)) {
    // No environment variable is visible, so `getEnvVar` returns its value for a missing variable.
    const [, fallback] = name === "getEnvVar" ? argumentsOf(list, context) : [];
    if (fallback !== undefined) return fallback;
    throw new GeneratorUnavailableError(
      `${name}: not available, give the param a value or a default, or use a secret`,
      name === "getEnvVar" ? "" : undefined,
    );
  }
  if (generator === undefined)
    throw new Error(
      `unknown generator: ${source.slice(0, 100)}, must be one of: ${Object.keys(GENERATORS).join(", ")}`,
    );
  try {
    return generator(argumentsOf(list, context), context).slice(0, TEXT_MAX);
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function argumentsOf(list: string, { values }: GeneratorContext): string[] {
  const args: string[] = [];
  if (list.trim() === "") return args;
  for (ARGUMENT.lastIndex = 0; ARGUMENT.lastIndex < list.length; ) {
    const at = ARGUMENT.lastIndex;
    const found = ARGUMENT.exec(list);
    if (found === null) throw new Error(`cannot parse the arguments at character ${at + 1}`);
    const [, double, single, bare] = found;
    const quoted = double ?? single;
    if (quoted !== undefined) args.push(renderText(quoted.replaceAll(/\\(.)/g, "$1"), values));
    else args.push(bareValue((bare ?? "").trim(), values));
  }
  return args;
}

/** A name, with or without double braces, is replaced by its value; a number stays as it is. */
function bareValue(bare: string, values: Readonly<Record<string, unknown>>): string {
  const name = /^\{\{\s*([\w-]+)\s*\}\}$/.exec(bare)?.[1] ?? bare;
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value === undefined || value === null) return bare;
  return typeof value === "string" ? value : JSON.stringify(value);
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isSafeInteger(value)) throw new Error(`${text} is not an integer`);
  return value;
}

const MONTHS = "January February March April May June July August September October November December".split(
  " ",
);
const DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");
const LAYOUT = /January|Jan|Monday|Mon|2006|06|01|02|15|03|04|05|PM|pm|Z07:00|MST|1|2|3|4|5/g;

/** Formats a date in UTC by a Go layout, in which the reference time is 2006-01-02 15:04:05. */
export function formatDate(date: Date, layout: string): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const month = MONTHS[date.getUTCMonth()] ?? "";
  const day = DAYS[date.getUTCDay()] ?? "";
  const hours = date.getUTCHours();
  const half = hours % 12 === 0 ? 12 : hours % 12;
  const parts: Readonly<Record<string, string>> = {
    January: month,
    Jan: month.slice(0, 3),
    Monday: day,
    Mon: day.slice(0, 3),
    "2006": String(date.getUTCFullYear()),
    "06": two(date.getUTCFullYear() % 100),
    "01": two(date.getUTCMonth() + 1),
    "1": String(date.getUTCMonth() + 1),
    "02": two(date.getUTCDate()),
    "2": String(date.getUTCDate()),
    "15": two(hours),
    "03": two(half),
    "3": String(half),
    "04": two(date.getUTCMinutes()),
    "4": String(date.getUTCMinutes()),
    "05": two(date.getUTCSeconds()),
    "5": String(date.getUTCSeconds()),
    PM: hours < 12 ? "AM" : "PM",
    pm: hours < 12 ? "am" : "pm",
    "Z07:00": "Z",
    MST: "UTC",
  };
  return layout.replaceAll(LAYOUT, (part) => parts[part] ?? part);
}
