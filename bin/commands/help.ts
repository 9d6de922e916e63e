import { suggestion } from "../../lib/suggestion.ts";
import { checkWords } from "../actions.ts";
import { type Command, columns, heading, helpOf, UsageError } from "../command.ts";

/** What every command ends with. */
export const EXIT_CODES = [
  ["0", "done"],
  ["1", "failed; the reason is on standard error"],
  ["2", "called wrongly"],
  ["130", "cancelled"],
] as const;

/** `weft help`: the list of commands, or the help of one. */
export function help(all: () => readonly Command[]): Command {
  return {
    name: "help",
    summary: "Shows what the commands do",
    usage: "[command]",
    flags: {},
    examples: [
      ["weft help", "lists the commands"],
      ["weft help dead-letters", "the flags of one, with examples"],
    ],
    run: async ({ positionals }, terminal) => {
      checkWords("help", "[command]", positionals);
      const [name] = positionals;
      if (name === undefined) {
        terminal.out(overview(all()));
        return;
      }
      const command = all().find((candidate) => candidate.name === name);
      if (command === undefined) {
        const near = suggestion(
          name,
          all().map((each) => each.name),
        );
        throw new UsageError(`There is no command '${name}'.${near}`);
      }
      terminal.out(helpOf(command));
    },
  };
}

function overview(commands: readonly Command[]): string {
  return [
    "Workflow automation and collaborative documents on one event bus.",
    "",
    `${heading("Usage")}  weft <command> [flags]`,
    "",
    heading("Commands"),
    columns(commands.map(({ name, summary }) => [name, summary])),
    "",
    heading("Environment"),
    columns([
      ["WEFT_URL", "the server that commands talk to, such as http://127.0.0.1:3000"],
      ["WEFT_DATA_DIR", "the data folder, ./.weft where it is not set"],
      ["WEFT_ACCESS_TOKEN", "the access token, instead of the data folder's"],
      ["PORT, HOST", "where the server listens, 3000 on 127.0.0.1 where they are not set"],
      ["NO_COLOR", "set to anything: no colours"],
      ["WEFT_DEBUG", "set to anything: faults of the command's own are told with their stack"],
    ]),
    "",
    heading("Exit codes"),
    columns(EXIT_CODES),
    "",
    "`weft help <command>` has the flags of each, and examples.",
    "",
  ].join("\n");
}
