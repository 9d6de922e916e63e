import type { Option } from "commander";
import { optionsOf, type WeftCommand } from "../command.ts";

/** A completion script for fish. */
export function fishCompletion({ commands }: WeftCommand): string {
  const lines = commands.flatMap((command) => {
    const isCommand = `__fish_seen_subcommand_from ${command.name()}`;
    const names = command.commands.map((each) => each.name());
    const hasNoSubcommand = `${isCommand}; and not __fish_seen_subcommand_from ${names.join(" ")}`;
    return [
      line("__fish_use_subcommand", `-f -a ${command.name()}`, command.description()),
      ...command.commands.map((each) => line(hasNoSubcommand, `-f -a ${each.name()}`, each.description())),
      ...optionsOf(command).map((option) => line(isCommand, optionWords(option), option.description)),
    ];
  });
  return `# weft completion fish\n${lines.join("\n")}\n`;
}

const line = (condition: string, words: string, description: string): string =>
  `complete -c weft -n ${quote(condition)} ${words} -d ${quote(description)}`;

function optionWords(option: Option): string {
  const { short, required, argChoices, flags } = option;
  const words = `-l ${option.name()}${short === undefined ? "" : ` -s ${short.slice(1)}`}`;
  if (!required) return words;
  if (argChoices !== undefined) return `${words} -x -a ${quote(argChoices.join(" "))}`;
  return /<(?:file|folder)>/.test(flags) ? `${words} -r` : `${words} -x`;
}

const quote = (text: string): string => `'${text.replaceAll(/['\\]/g, "\\$&")}'`;
