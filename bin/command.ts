import { styleText } from "node:util";
import { Command, type Help, type Option } from "commander";
import { suggestion } from "../lib/suggestion.ts";
import { UsageError } from "./errors.ts";
import { terminal } from "./terminal.ts";

/** What is typed, and what it means. */
export type HelpRow = readonly [term: string, meaning: string];

/** A command of `weft`: Commander's, with examples and exit codes in its help. */
export class WeftCommand extends Command {
  readonly examples: HelpRow[] = [];
  readonly exitCodes: HelpRow[] = [];
  declare readonly commands: readonly WeftCommand[];

  constructor(name?: string) {
    super(name);
    this.helpOption("-h, --help", "Show this help")
      .helpCommand(false)
      .exitOverride()
      .configureHelp({
        showGlobalOptions: true,
        // Those of the command, not those of `weft` itself.
        visibleGlobalOptions: ({ parent }) => (parent?.parent ? [...parent.options] : []),
        styleTitle: (title) => styleText("bold", title, ALWAYS),
      })
      .configureOutput({
        writeOut: terminal.out,
        // main.ts prints errors.
        outputError: () => {},
        getOutHelpWidth: () => terminal.width ?? Number.POSITIVE_INFINITY,
      })
      .addHelpText("after", () => this.#detailedHelp());
  }

  override createCommand(name?: string): WeftCommand {
    return new WeftCommand(name);
  }

  example(line: string, meaning: string): this {
    this.examples.push([line, meaning]);
    return this;
  }

  exits(code: string, meaning: string): this {
    this.exitCodes.push([code, meaning]);
    return this;
  }

  /** Adds a subcommand that also runs if none is named. */
  defaultCommand(name: string): WeftCommand {
    this.hook("preSubcommand", () => this.#rejectUnknownSubcommand());
    return this.command(name, { isDefault: true });
  }

  /** Commander would pass an unknown word to the default subcommand. */
  #rejectUnknownSubcommand(): void {
    const [word] = this.args;
    const names = this.commands.map((each) => each.name());
    if (word === undefined || word.startsWith("-") || names.includes(word)) return;
    throw new UsageError(`Unknown command '${this.name()} ${word}'.${suggestionOrList(word, names)}`);
  }

  #detailedHelp(): string {
    const help = this.createHelp();
    help.prepareContext({ helpWidth: terminal.width ?? Number.POSITIVE_INFINITY });
    return [
      ...this.commands
        .filter(({ options }) => options.length > 0 && this.parent !== null)
        .map((each) => section(help, `Options of ${each.name()}:`, optionRows(help, each.options))),
      section(help, "Examples:", this.examples),
      section(help, "Exit codes:", this.exitCodes),
    ]
      .filter((text) => text !== "")
      .join("\n");
  }
}

// Commander removes the style if the output has no colors.
const ALWAYS = { validateStream: false } as const;

/** The options as their help shows them. */
export const optionRows = (help: Help, options: readonly Option[]): HelpRow[] =>
  options.map((option) => [help.optionTerm(option), help.optionDescription(option)]);

/** All options of a command, its subcommands and its help, each flag once. */
export function optionsOf(command: WeftCommand): Option[] {
  const all = [command, ...command.commands].flatMap((each) => command.createHelp().visibleOptions(each));
  return [...new Map(all.map((option) => [option.long, option])).values()];
}

/** How an option can be written: `--target` and `-t`. */
export const flagsOf = ({ long, short }: Option): string[] =>
  [long, short].filter((flag) => flag !== undefined);

/** A titled list of the help; empty without rows. */
export function section(help: Help, title: string, rows: readonly HelpRow[]): string {
  if (rows.length === 0) return "";
  const width = Math.max(...rows.map(([term]) => term.length));
  const items = rows.map(([term, meaning]) => help.formatItem(term, width, meaning, help));
  return `\n${help.formatItemList(title, items, help).join("\n").trimEnd()}`;
}

/** ` Did you mean 'x'?`, or the names if none is similar. */
export const suggestionOrList = (word: string, names: readonly string[]): string =>
  suggestion(word, names) || ` Use one of: ${names.join(", ")}.`;
