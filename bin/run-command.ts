import { CommanderError } from "commander";
import { suggestionOrList, type WeftCommand } from "./command.ts";
import { CommandFailure, EXIT_FAILURE, EXIT_USAGE, messageOf, UsageError } from "./errors.ts";
import { program } from "./program.ts";
import { terminal } from "./terminal.ts";

/** Runs the command of a command line, prints its error if it fails, and returns the exit code. */
export async function runCommand(argv: readonly string[]): Promise<number> {
  const writesBefore = terminal.writes;
  try {
    await program.parseAsync(argv.length === 0 ? ["help"] : argv, { from: "user" });
    return 0;
  } catch (thrown) {
    // Commander throws after it has printed a help text, too.
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return 0;
    const error = thrown instanceof CommanderError ? usageError(thrown) : thrown;
    const command = program.commands.find((each) => each.name() === argv[0]);
    const hasWritten = terminal.writes > writesBefore;
    if (argv.includes("--json") && command !== undefined && hasJsonOption(command) && !hasWritten)
      terminal.out(`${JSON.stringify({ error: true, message: messageOf(error) })}\n`);
    return reportError(error, command);
  }
}

const hasJsonOption = ({ options, commands }: WeftCommand): boolean =>
  options.some(({ long }) => long === "--json") || commands.some(hasJsonOption);

/** Commander's message as one sentence. */
function usageError({ message, code }: CommanderError): UsageError {
  const [first = "", similar] = message.replace(/^error: /, "").split("\n");
  const sentence = `${first.charAt(0).toUpperCase()}${first.slice(1)}`.replace(/\.?$/, ".");
  if (similar !== undefined) return new UsageError(`${sentence} ${similar.replace(/^\((.*)\)$/, "$1")}`);
  if (code !== "commander.unknownCommand") return new UsageError(sentence);
  const names = program.commands.map((each) => each.name());
  return new UsageError(`${sentence}${suggestionOrList("", names)}`);
}

/** Prints an error and returns the exit code. */
function reportError(error: unknown, command: WeftCommand | undefined): number {
  if (error instanceof UsageError) {
    terminal.error(`weft: ${error.message}\n`);
    terminal.error(`Try: weft help${command === undefined ? "" : ` ${command.name()}`}\n`);
    return EXIT_USAGE;
  }
  if (error instanceof CommandFailure) {
    terminal.error(`weft: ${error.message}\n`);
    if (error.hint !== undefined) terminal.error(`${error.hint}\n`);
    return error.exitCode;
  }
  const stack = error instanceof Error ? error.stack : messageOf(error);
  const detail = terminal.env.WEFT_DEBUG
    ? stack
    : `${messageOf(error)} (WEFT_DEBUG=1 prints the stack trace)`;
  terminal.error(`weft: Internal error: ${detail}\n`);
  return EXIT_FAILURE;
}
