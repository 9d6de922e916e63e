import { type Command, type Flag, flagsOf } from "../command.ts";

/** A script for fish. */
export function fishCompletion(commands: readonly Command[]): string {
  const lines = commands.flatMap((command) => {
    const { name, summary, actions = {} } = command;
    const here = `__fish_seen_subcommand_from ${name}`;
    const names = Object.keys(actions);
    const undecided = `${here}; and not __fish_seen_subcommand_from ${names.join(" ")}`;
    return [
      line("__fish_use_subcommand", `-f -a ${name}`, summary),
      ...Object.entries(actions).map(([action, text]) => line(undecided, `-f -a ${action}`, text.summary)),
      ...Object.entries(flagsOf(command)).map(([flag, spec]) =>
        line(
          here,
          `-l ${flag}${spec.short === undefined ? "" : ` -s ${spec.short}`}${valueWords(spec)}`,
          spec.summary,
        ),
      ),
    ];
  });
  return `# weft completion fish\n${lines.join("\n")}\n`;
}

const line = (condition: string, words: string, summary: string): string =>
  `complete -c weft -n ${quoted(condition)} ${words} -d ${quoted(summary)}`;

function valueWords({ type, value, choices }: Flag): string {
  if (type === "boolean") return "";
  if (choices !== undefined) return ` -x -a ${quoted(choices.join(" "))}`;
  return value === "FILE" || value === "FOLDER" ? " -r" : " -x";
}

const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, "\\$&")}'`;
