import { InvalidArgumentError, Option } from "commander";
import type { WeftCommand } from "./command.ts";

/** Options of every command that talks to a server. */
export interface ServerOptions {
  readonly url?: string;
  readonly token?: string;
  readonly dataDir?: string;
  readonly json?: boolean;
}

/** `-p key=value`, collected. */
export type Params = Readonly<Record<string, string>>;

export const jsonOption = (): Option => new Option("--json", "Print JSON");

export const dataDirOption = (): Option =>
  new Option("--data-dir <folder>", "Data folder of the server (default: WEFT_DATA_DIR, else ./.weft)");

export const urlOption = (): Option =>
  new Option("--url <url>", "URL of the server (default: WEFT_URL, else that of the data folder's server)");

export const tokenOption = (): Option =>
  new Option("--token <token>", "Access token (default: WEFT_ACCESS_TOKEN, else the data folder's)");

const PORT_MAX = 65_535;

/** `--port` and `--host` of a command that listens. */
export function addListenOptions(command: WeftCommand, defaultPort: number): WeftCommand {
  const port = `Port; 0 selects a free one (default: PORT, else ${defaultPort})`;
  return command
    .addOption(wholeNumber("--port <port>", port, 0, PORT_MAX))
    .option("--host <host>", "Address to listen on (default: HOST, else 127.0.0.1)");
}

/** Values of `addListenOptions`. */
export interface ListenOptions {
  readonly port?: number;
  readonly host?: string;
}

/** The environment variables that the options stand for. */
export const listenEnvironment = ({ port, host }: ListenOptions): Readonly<Record<string, string>> => ({
  ...(port === undefined ? {} : { PORT: String(port) }),
  ...(host === undefined ? {} : { HOST: host }),
});

export function addServerOptions(command: WeftCommand): WeftCommand {
  return command
    .addOption(urlOption())
    .addOption(tokenOption())
    .addOption(dataDirOption())
    .addOption(jsonOption());
}

/** `--limit` and `--offset` of a list. */
export function addPageOptions(command: WeftCommand): WeftCommand {
  return command
    .addOption(wholeNumber("--limit <count>", "Maximum number to show (default: 20)"))
    .addOption(wholeNumber("--offset <count>", "Number to skip (default: 0)"));
}

export const choice = (flags: string, description: string, choices: readonly string[]): Option =>
  new Option(flags, description).choices(choices);

export function wholeNumber(flags: string, description: string, min = 0, max = 1e15 - 1): Option {
  return new Option(flags, description).argParser((text): unknown => {
    if (/^\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text);
    const range = max < 1e15 - 1 ? ` from ${min} to ${max}` : "";
    throw new InvalidArgumentError(`It must be a whole number${range}.`);
  });
}

/** An option that can be given several times. */
export function repeatable(flags: string, description: string, choices?: readonly string[]): Option {
  const option = new Option(flags, `${description}; can be repeated`);
  if (choices !== undefined) option.choices(choices);
  return option.argParser((text, previous: unknown): unknown => {
    if (choices?.includes(text) === false)
      throw new InvalidArgumentError(`Allowed choices are ${choices.join(", ")}.`);
    return [...((previous as string[] | undefined) ?? []), text];
  });
}

export const paramOption = (description: string): Option =>
  new Option("-p, --param <key=value>", `${description}; can be repeated`).argParser(
    (text, previous: unknown): unknown => {
      const at = text.indexOf("=");
      if (at < 1) throw new InvalidArgumentError("It must have the form KEY=VALUE.");
      return { ...(previous as Params | undefined), [text.slice(0, at)]: text.slice(at + 1) };
    },
  );

/** Fields of which those that may be undefined are optional. */
type Given<Fields> = {
  [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name];
} & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>;
};

/** The fields of a request's body that the options set. */
export const givenFields = <Fields extends object>(fields: Fields): Given<Fields> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<Fields>;

/**
 * The query parameters of a call that the options set: option `runId` is parameter `run_id`, an entry of `param` is
 * parameter `param.<key>`.
 */
export function queryOf<Query>(options: object, names: readonly string[]): Query {
  const parameters = names.flatMap((name): [string, unknown][] => {
    const value: unknown = Reflect.get(options, name);
    if (value === undefined) return [];
    const parameter = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (typeof value !== "object" || value === null) return [[parameter, value]];
    const entries = Object.entries(value).map(([key, one]) => [`${parameter}.${key}`, one]);
    return [[parameter, Object.fromEntries(entries)]];
  });
  return Object.fromEntries(parameters) as Query;
}

/** The parameters of a list: its filters, and its page. */
export const listQuery = <Query>(options: object, filters: readonly string[]): Query =>
  queryOf(options, [...filters, "limit", "offset"]);
