import { type HelpRow, optionRows, type WeftCommand } from "../bin/command.ts";

/** Markdown with a section for each command: its subcommands, options and examples. */
export function commandGuide({ commands }: WeftCommand): string {
  return commands.map(commandSection).join("\n\n");
}

export function exitCodeTable({ exitCodes }: WeftCommand): string {
  return table(["Exit code", "Meaning"], exitCodes);
}

function commandSection(command: WeftCommand): string {
  const help = command.createHelp();
  const subcommands = command.commands.map((each): HelpRow => {
    const args = each.usage().replace(/\[options\] ?/, "");
    return [code(`${each.name()} ${args}`.trim()), each.description()];
  });
  const options = optionRows(help, help.visibleOptions(command));
  const ownOptions = command.commands.flatMap((each) =>
    optionRows(help, each.options).map(([flags, meaning]): HelpRow => [`${each.name()} ${flags}`, meaning]),
  );
  const width = Math.max(...command.examples.map(([line]) => line.length));
  return [
    `### weft ${command.name()}`,
    `${command.description()}.`,
    fence(`${help.commandUsage(command)}`),
    ...optionalTable(["Subcommand", "Meaning"], subcommands),
    ...optionalTable(
      ["Option", "Meaning"],
      [...ownOptions, ...options].map(([flags, meaning]): HelpRow => [code(flags), meaning]),
    ),
    fence(command.examples.map(([line, meaning]) => `${line.padEnd(width)}  # ${meaning}`).join("\n")),
    ...optionalTable(["Exit code", "Meaning"], command.exitCodes),
  ].join("\n\n");
}

const code = (text: string): string => `\`${text}\``;
const fence = (text: string): string => `\`\`\`sh\n${text}\n\`\`\``;

const optionalTable = (head: HelpRow, rows: readonly HelpRow[]): string[] =>
  rows.length === 0 ? [] : [table(head, rows)];

function table(head: HelpRow, rows: readonly HelpRow[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
