import { type Command, CommandFailure, helpOf, readArguments, type Terminal, UsageError } from "./command.ts";
import { deadLetters } from "./commands/dead-letters.ts";
import { doctor } from "./commands/doctor.ts";
import { help } from "./commands/help.ts";
import { start } from "./commands/start.ts";
import { token } from "./commands/token.ts";
import { version } from "./commands/version.ts";
import { worker } from "./commands/worker.ts";

const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;

const commands: readonly Command[] = [
  start,
  worker,
  token,
  deadLetters,
  doctor,
  help(() => commands),
  version,
];

const ALIASES: Readonly<Record<string, string>> = {
  "--help": "help",
  "-h": "help",
  "--version": "version",
  "-v": "version",
};

async function main(argv: readonly string[], terminal: Terminal): Promise<number> {
  const [word = "help", ...rest] = argv;
  const name = Object.hasOwn(ALIASES, word) ? ALIASES[word] : word;
  const command = commands.find((candidate) => candidate.name === name);
  try {
    if (command === undefined) {
      const kind = word.startsWith("-") ? "flag" : "command";
      throw new UsageError(
        `There is no ${kind} '${word}'. The commands are: ${commands.map((c) => c.name).join(", ")}.`,
      );
    }
    const args = readArguments(command, rest);
    if (args.flags.help === true) terminal.out(helpOf(command));
    else await command.run(args, terminal);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.error(`weft: ${error.message}\n`);
      terminal.error(`Try: weft help${command === undefined ? "" : ` ${command.name}`}\n`);
      return EXIT_USAGE;
    }
    if (!(error instanceof CommandFailure)) throw error;
    terminal.error(`weft: ${error.message}\n`);
    if (error.hint !== undefined) terminal.error(`${error.hint}\n`);
    return EXIT_FAILURE;
  }
}

// A reader such as `head` may leave before all is written; what is left then goes nowhere.
process.stdout.on("error", () => {});
if (process.env.WEFT_HANDED_OVER !== undefined) {
  // The process that started this one was killed and cannot pass a signal on any more.
  process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel?.unref();
  delete process.env.WEFT_HANDED_OVER;
}
process.exitCode = await main(process.argv.slice(2), {
  env: process.env,
  out: (text) => void process.stdout.write(text),
  error: (text) => void process.stderr.write(text),
});
