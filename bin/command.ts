import { type ParseArgsConfig, parseArgs, styleText } from "node:util";
import { suggestion } from "../lib/suggestion.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;

/** One flag of a command: how it is parsed, and what its help says. */
export interface Flag {
  readonly type: "string" | "boolean";
  readonly short?: string;
  /** Stands for the value in the help; FILE and FOLDER are completed as such. */
  readonly value?: string;
  readonly summary: string;
  /** It may be given several times. */
  readonly multiple?: boolean;
  /** The values that there are. */
  readonly choices?: readonly string[];
  /** The value is a whole number. */
  readonly whole?: boolean;
  /** The actions that take it; every one where it is not given. */
  readonly of?: readonly string[];
}

/** Where a command reads and writes. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Columns of the screen; undefined where nothing cuts lines. */
  readonly width?: number | undefined;
  /** Whether a person watches standard output. */
  readonly live?: boolean | undefined;
  out(text: string): void;
  error(text: string): void;
}

export interface Arguments {
  readonly flags: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  readonly positionals: readonly string[];
}

/** What is told of a word that stands after a command's name. */
export interface ActionText {
  /** What stands after it, such as `<id>`, `[name]` or `<file>...` */
  readonly takes: string;
  readonly summary: string;
}

export interface Command {
  readonly name: string;
  readonly summary: string;
  /** After the command's name. */
  readonly usage: string;
  readonly actions?: Readonly<Record<string, ActionText>>;
  readonly flags: Readonly<Record<string, Flag>>;
  readonly examples: readonly (readonly [line: string, meaning: string])[];
  /** What it ends with besides 0, 1 and 2. */
  readonly exits?: readonly (readonly [code: string, meaning: string])[];
  /** Throws UsageError and CommandFailure; anything else is a fault of ours. */
  run(args: Arguments, terminal: Terminal): Promise<void>;
}

/** The command was called wrongly: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export const EXIT_FAILURE = 1;
export const EXIT_USAGE = 2;
/** What was begun was stopped by the one who began it. */
export const EXIT_CANCELLED = 130;

/** The command could not do its work: exit code 1 where no other is given. The hint says what may help. */
export class CommandFailure extends Error {
  override readonly name: string = "CommandFailure";
  readonly hint: string | undefined;
  readonly exitCode: number;
  constructor(message: string, hint?: string, exitCode: number = EXIT_FAILURE) {
    super(message);
    this.hint = hint;
    this.exitCode = exitCode;
  }
}

/** Every command takes it. */
export const JSON_FLAG: Flag = { type: "boolean", summary: "Print JSON" };
const HELP_FLAG: Flag = { type: "boolean", short: "h", summary: "Show this help" };

/** All flags of a command, with those that every command takes. */
export const flagsOf = (command: Command): Readonly<Record<string, Flag>> => ({
  ...command.flags,
  help: HELP_FLAG,
});

/** Throws UsageError for a flag that the command does not have, or one without its value. */
export function readArguments(command: Command, argv: readonly string[]): Arguments {
  const flags = flagsOf(command);
  const options: Options = {};
  for (const [name, { type, short, multiple = false }] of Object.entries(flags)) {
    options[name] = short === undefined ? { type, multiple } : { type, multiple, short };
  }
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options,
      allowPositionals: true,
      strict: true,
    });
    const read = { flags: values as Arguments["flags"], positionals };
    for (const [name, flag] of Object.entries(flags)) checkValue(name, flag, read.flags[name]);
    return read;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const unknown = code === "ERR_PARSE_ARGS_UNKNOWN_OPTION" ? /'(--?[^']*)'/.exec(message)?.[1] : undefined;
    if (unknown === undefined) throw new UsageError(onLine(message));
    const meant = suggestion(
      unknown,
      Object.keys(flags).map((name) => `--${name}`),
    );
    throw new UsageError(`${command.name} has no flag ${unknown}.${meant}`);
  }
}

/** What Node says of flags, in one sentence. */
function onLine(message: string): string {
  const ambiguous = /^Option '(?:-\w, )?(--[\w-]+)[^']*' argument is ambiguous/.exec(message)?.[1];
  if (ambiguous === undefined) return message.split("\n", 1)[0] ?? message;
  return `${ambiguous} takes a value; one that begins with a dash is written ${ambiguous}=-VALUE.`;
}

function checkValue(name: string, { choices, whole }: Flag, value: Arguments["flags"][string]): void {
  if (typeof value !== "string") return;
  if (choices?.includes(value) === false)
    throw new UsageError(`--${name} must be one of ${choices.join(", ")}.`);
  if (whole === true && !/^\d{1,15}$/.test(value)) throw new UsageError(`--${name} must be a whole number.`);
}

/** The flag's text, or undefined. */
export function textFlag({ flags }: Arguments, name: string): string | undefined {
  const value = flags[name];
  return typeof value === "string" ? value : undefined;
}

/** Bold where the terminal shows it; NO_COLOR and FORCE_COLOR are heeded. */
export function heading(text: string): string {
  return styleText("bold", text, { stream: process.stdout });
}

/** The command's name and what stands after it. */
export const usageOf = ({ name, usage }: Command): string => `weft ${name}${usage === "" ? "" : ` ${usage}`}`;

/** The actions of a command, as they are written and what they do. */
export const actionRows = ({ actions = {} }: Command): [string, string][] =>
  Object.entries(actions).map(([name, { takes, summary }]) => [`${name} ${takes}`.trimEnd(), summary]);

/** The flags of a command, as they are written and what they do. */
export function flagRows(command: Command): [string, string][] {
  return Object.entries(flagsOf(command)).map(([name, { short, value, summary, of, multiple }]) => {
    const long = value === undefined ? `--${name}` : `--${name} ${value}`;
    const whose = of === undefined ? "" : `${of.join(", ")}: `;
    const often = multiple === true ? "; may be given several times" : "";
    return [short === undefined ? `    ${long}` : `-${short}, ${long}`, `${whose}${summary}${often}`];
  });
}

export function helpOf(command: Command): string {
  const actions = actionRows(command);
  return [
    `${command.summary}.`,
    "",
    `${heading("Usage")}  ${usageOf(command)}`,
    "",
    ...(actions.length === 0 ? [] : [heading("Actions"), columns(actions), ""]),
    heading("Flags"),
    columns(flagRows(command)),
    "",
    heading("Examples"),
    columns(command.examples),
    "",
    ...(command.exits === undefined ? [] : [heading("Exit codes"), columns(command.exits), ""]),
  ].join("\n");
}

/** Two columns, indented. */
export function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`.trimEnd()).join("\n");
}
