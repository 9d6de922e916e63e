import { suggestionOrList, WeftCommand } from "../command.ts";
import { UsageError } from "../errors.ts";

export const help = new WeftCommand("help")
  .description("Show the help of a command")
  .argument("[command...]", "Command and subcommand (default: all commands)")
  .example("weft help", "lists the commands")
  .example("weft help dead-letters", "shows the options of a command, and examples")
  .action((names: string[], _options, command: WeftCommand) => {
    let found = command.parent as WeftCommand;
    for (const name of names) {
      const subcommands = found.commands.map((each) => each.name());
      const next = found.commands.find((each) => each.name() === name);
      if (next === undefined)
        throw new UsageError(
          subcommands.length === 0
            ? `${found.name()} has no subcommands: remove '${name}'.`
            : `Unknown command '${name}'.${suggestionOrList(name, subcommands)}`,
        );
      found = next;
    }
    found.outputHelp();
  });
