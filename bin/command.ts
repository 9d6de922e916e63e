import { type ParseArgsConfig, parseArgs, styleText } from "node:util";

type Options = NonNullable<ParseArgsConfig["options"]>;

/** One flag of a command: how it is parsed, and what its help says. */
export interface Flag {
  readonly type: "string" | "boolean";
  readonly short?: string;
  /** Stands for the value in the help. */
  readonly value?: string;
  readonly summary: string;
}

/** Where a command reads and writes. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  out(text: string): void;
  error(text: string): void;
}

export interface Arguments {
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
}

export interface Command {
  readonly name: string;
  readonly summary: string;
  /** After the command's name. */
  readonly usage: string;
  readonly flags: Readonly<Record<string, Flag>>;
  readonly examples: readonly (readonly [line: string, meaning: string])[];
  /** Throws UsageError and CommandFailure; anything else is a fault of ours. */
  run(args: Arguments, terminal: Terminal): Promise<void>;
}

/** The command was called wrongly: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The command could not do its work: exit code 1. The hint says what may help. */
export class CommandFailure extends Error {
  override readonly name = "CommandFailure";
  readonly hint: string | undefined;
  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** Every command takes it. */
export const JSON_FLAG: Flag = { type: "boolean", summary: "Print JSON" };
const HELP_FLAG: Flag = { type: "boolean", short: "h", summary: "Show this help" };

const flagsOf = (command: Command): Readonly<Record<string, Flag>> => ({ ...command.flags, help: HELP_FLAG });

/** Throws UsageError for a flag that the command does not have, or one without its value. */
export function readArguments(command: Command, argv: readonly string[]): Arguments {
  const options: Options = {};
  for (const [name, { type, short }] of Object.entries(flagsOf(command))) {
    options[name] = short === undefined ? { type } : { type, short };
  }
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options,
      allowPositionals: true,
      strict: true,
    });
    return { flags: values as Arguments["flags"], positionals };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
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

export function helpOf(command: Command): string {
  const flags = Object.entries(flagsOf(command)).map(
    ([name, { short, value, summary }]): [string, string] => {
      const long = value === undefined ? `--${name}` : `--${name} ${value}`;
      return [short === undefined ? `    ${long}` : `-${short}, ${long}`, summary];
    },
  );
  return [
    `${command.summary}.`,
    "",
    `${heading("Usage")}  weft ${command.name}${command.usage === "" ? "" : ` ${command.usage}`}`,
    "",
    heading("Flags"),
    columns(flags),
    "",
    heading("Examples"),
    columns(command.examples),
    "",
  ].join("\n");
}

/** Two columns, indented. */
export function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`.trimEnd()).join("\n");
}
