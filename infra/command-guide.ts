import { actionRows, type Command, flagRows, usageOf } from "../bin/command.ts";
import { EXIT_CODES } from "../bin/commands/help.ts";

/** Every command with its actions, flags and examples, a section each, in Markdown. */
export function commandGuide(commands: readonly Command[]): string {
  return commands.map(sectionOf).join("\n\n");
}

/** What commands end with. */
export function exitCodeTable(): string {
  return tableOf(["Exit code", "Meaning"], EXIT_CODES);
}

function sectionOf(command: Command): string {
  const { name, summary, examples, exits } = command;
  const actions = actionRows(command);
  const flags = flagRows(command).map(([flag, meaning]): [string, string] => [code(flag.trim()), meaning]);
  const width = Math.max(...examples.map(([line]) => line.length));
  return [
    `### weft ${name}`,
    `${summary}.`,
    fence(usageOf(command)),
    ...(actions.length === 0
      ? []
      : [
          tableOf(
            ["Action", "What it does"],
            actions.map(([action, meaning]) => [code(action), meaning]),
          ),
        ]),
    tableOf(["Flag", "Meaning"], flags),
    fence(examples.map(([line, meaning]) => `${line.padEnd(width)}  # ${meaning}`).join("\n")),
    ...(exits === undefined ? [] : [tableOf(["Exit code", "Meaning"], exits)]),
  ].join("\n\n");
}

const code = (text: string): string => `\`${text}\``;
const fence = (text: string): string => `\`\`\`sh\n${text}\n\`\`\``;

function tableOf(head: readonly [string, string], rows: readonly (readonly [string, string])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
